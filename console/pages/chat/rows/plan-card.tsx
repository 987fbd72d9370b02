import { Circle, CircleCheck, CircleDot } from 'lucide-react'
import type { AgentPlan } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

const MARKS = {
  pending: [Circle, 'calm', 'chat.planPending'],
  running: [CircleDot, 'busy', 'chat.planRunning'],
  done: [CircleCheck, 'good', 'chat.planDone']
} as const

/** The plan of a long piece of work, and its progress. */
export function PlanCard ({ steps }: AgentPlan) {
  const done = steps.filter(({ status }) => status === 'done').length
  return (
    <div className='task-card'>
      <p className='plan-head'>
        <strong>{say('chat.plan')}</strong> <span className='quiet'>{say('chat.planCount', { done, all: steps.length })}</span>
      </p>
      <ul className='plan'>
        {steps.map(({ text, status }, at) => {
          const [Sign, tone, words] = MARKS[status]
          return (
            <li key={at} data-state={status}>
              <span className={`plan-sign status-${tone}`}><Sign /></span>
              <span>
                <VisibleText text={text} /> <span className={status === 'running' ? 'quiet' : 'visually-hidden'}>{say(words)}</span>
              </span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
