import { lazy, Suspense } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import { Loading } from '../loading.tsx'
import { Decide } from './decide.tsx'
import type { DecisionInProgress } from './use-decision.ts'

const Report = lazy(() => import('../markdown/report.tsx'))

/** The result of a task's run, which counts only when the user approves it. */
export function ResultRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  return (
    <>
      <Suspense fallback={<Loading />}>
        <div className='report waiting-report'><Report text={visibleText(approval.output ?? '')} /></div>
      </Suspense>
      {isOpen && <p className='quiet'>{say('approval.resultHelp')}</p>}
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}
