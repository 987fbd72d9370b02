import { useQuery } from '@tanstack/react-query'
import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { openApprovals } from '../frame.tsx'
import { useLearned } from './lessons.tsx'
import { ManyBar } from './many-bar.tsx'
import { ManyCalls } from './many-calls.tsx'
import { useRefusals } from './refused.tsx'
import { WaitingItem } from './waiting-item.tsx'

/** The open approvals and questions of one run or task; renders nothing if there are none. */
export function WaitingSection (owner: Partial<Pick<Approval, 'runId' | 'taskId'>>) {
  const { data } = useQuery(openApprovals)
  const waiting = (data?.approvals ?? []).filter(({ runId, taskId }) =>
    owner.taskId === undefined ? runId === owner.runId : taskId === owner.taskId)
  const { note, onRefused } = useRefusals(waiting)
  const { learned, onLearned } = useLearned()
  if (waiting.length === 0 && note === undefined && learned === undefined) return null
  return (
    <section className='section' aria-label={say('tasks.waiting')}>
      <h2>{say('tasks.waiting')}</h2>
      {note}
      {learned}
      <ManyCalls approvals={waiting}>
        <ManyBar />
        {waiting.map((approval) => (
          <WaitingItem key={approval.approvalId} approval={approval} withoutOwner onRefused={onRefused} onLearned={onLearned} />
        ))}
      </ManyCalls>
    </section>
  )
}
