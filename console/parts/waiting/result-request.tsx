import type { Approval } from '../../../client/generated/index.ts'
import { VisibleText } from '../visible-text.tsx'
import { Decide } from './decide.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** The result of a task's run, which counts only when the user approves it. */
export function ResultRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  return (
    <>
      <div className='waiting-text'><VisibleText text={approval.output ?? ''} /></div>
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}
