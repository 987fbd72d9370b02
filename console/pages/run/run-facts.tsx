import { Link } from 'wouter'
import type { Run, Steer } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayDuration, useNow } from '../../lib/time.ts'
import { modelName } from '../../parts/models/provider-name.ts'
import { NotVerified } from '../../parts/not-verified.tsx'
import { Status } from '../../parts/status.tsx'
import { ThreadName } from '../../parts/thread-name.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { TaskName } from '../tasks/task-name.tsx'
import { isOver, isRehearsal, sayUsage } from './run-words.ts'

/** The owner of a run, its state, its duration and its cost. */
export function RunFacts ({ run }: { run: Run }) {
  const { taskId, threadId, trigger, startedAt, durationMs, usage, attempts, standsFor, steering, steered = [], options, answeredBy } = run
  // Comments to the task before this run, and steering messages to the run itself.
  const comments = taskId === undefined ? [] : steering.map((text) => ({ text }))
  const said: Array<{ text: string, state?: Steer['state'] }> = [...comments, ...steered]
  const model = answeredBy?.model ?? options?.model
  const now = useNow()
  const took = durationMs ?? (isOver(run) ? undefined : Math.max(0, now - startedAt))
  return (
    <section className='section' aria-label={say('run.facts')}>
      <dl className='facts'>
        {taskId !== undefined && (
          <><dt>{say('tasks.task')}</dt><dd><Link href={`/tasks/${taskId}`}><TaskName id={taskId} /></Link></dd></>
        )}
        {threadId !== undefined && !isRehearsal(run) && <><dt>{say('chat.title')}</dt><dd><ThreadName id={threadId} /></dd></>}
        <dt>{say('tasks.state')}</dt>
        <dd>
          <Status value={run.status} /> <NotVerified {...run.evaluation} />
          {run.review && <span className='quiet'> · {say(`run.review.${run.review}`)}</span>}
        </dd>
        <dt>{say('run.began')}</dt>
        <dd>
          <Time at={startedAt} />{' '}
          <span className='quiet'>
            · {say(`run.trigger.${trigger}`)}{standsFor !== undefined && ` · ${say('run.standsFor', { count: standsFor })}`}
          </span>
        </dd>
        <dt>{say('run.took')}</dt>
        <dd>{took === undefined ? say('run.unknownTime') : sayDuration(took)}</dd>
        <dt>{say('run.cost')}</dt>
        <dd title={say('run.usage', { ...usage })}>{sayUsage(usage)}</dd>
        {options?.agent !== undefined && <><dt>{say('tasks.option.agent')}</dt><dd><VisibleText text={options.agent} limit={64} /></dd></>}
        {model !== undefined && <><dt>{say('tasks.option.model')}</dt><dd><VisibleText text={nameOf(model)} limit={200} /></dd></>}
        {attempts > 1 && <><dt>{say('run.attempts')}</dt><dd>{say('run.attemptCount', { count: attempts })}</dd></>}
        {said.length > 0 && (
          <>
            <dt>{say('run.steering')}</dt>
            <dd>
              <ul>
                {said.map((each, at) => (
                  <li key={at}>
                    <VisibleText text={each.text} limit={1_000} />
                    {each.state !== undefined && <span className='quiet'> · {say(`chat.steerStates.${each.state}`)}</span>}
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

/** Returns a model with its provider, except for the built-in offline models, which people know by their names. */
const nameOf = (model: string) => model.startsWith('offline/') ? modelName(model) : model
