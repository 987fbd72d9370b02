import type { AgentPlan } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

const MARKS = { pending: 'chat.planPending', running: 'chat.planRunning', done: 'chat.planDone' } as const

/** The plan of a long piece of work, and how far it is. */
export function PlanCard ({ steps }: AgentPlan) {
  return (
    <div className='task-card'>
      <p><strong>{say('chat.plan')}</strong></p>
      <ul>
        {steps.map(({ text, status }, at) => (
          <li key={at}><VisibleText text={text} /> <span className='quiet'>{say(MARKS[status])}</span></li>
        ))}
      </ul>
    </div>
  )
}
