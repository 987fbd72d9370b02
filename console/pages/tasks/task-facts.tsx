import { say } from '../../lib/say.ts'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { countsRuns } from './form-values.ts'
import { sayScheduleWords } from './schedule-words.ts'
import { hasOpenResult, statusOf, titleOf, type TaskOption } from './task-words.ts'
import type { Task } from './task-queries.ts'

const OPTIONS: TaskOption[] = ['agent', 'model', 'effort', 'instructions']

/** The state of a task: its schedule, the outcome of its last run, its open questions. Its setup is collapsed. */
export function TaskFacts ({ task }: { task: Task }) {
  const { goal, taskType, schedule, approval: { mode, firstN, approvedRuns } } = task
  return (
    <section className='section' aria-label={say('tasks.facts')}>
      {titleOf(task) !== goal.trim() && <p className='goal'><VisibleText text={goal} limit={1_000} /></p>}
      <p className='task-states'>
        <Status value={statusOf(task)} />
        {hasOpenResult(task) && <Status value='resultWaits' />}
        {task.health.state === 'failing' && (
          <>
            <Status value='failing' />
            <span className='quiet'>{say('tasks.health', { count: task.health.failures })}. {say('tasks.tried')}.</span>
          </>
        )}
        {task.retryAt !== undefined && (
          <span className='quiet'>{say('tasks.outage')}: {say('tasks.retry')} <Time at={task.retryAt} /></span>
        )}
      </p>
      <dl className='task-facts'>
        <div>
          <dt>{say('tasks.when')}</dt>
          <dd>
            {schedule
              ? <span lang='en'>{sayScheduleWords(task)}</span>
              : say(task.triggers ? 'tasks.byTriggers' : `tasks.type.${taskType}`)}
          </dd>
          {task.nextRunAt !== undefined && task.status === 'scheduled' && (
            <dd className='quiet'>{say('tasks.next')} <Time at={task.nextRunAt} /></dd>
          )}
          {task.endsAt !== undefined && <dd className='quiet'>{say('tasks.ends')} <Time at={task.endsAt} /></dd>}
        </div>
        <div>
          <dt>{say('tasks.last')}</dt>
          <dd>
            {task.lastRunAt === undefined ? say('time.never') : <Time at={task.lastRunAt} />}
            {task.lastRunStatus !== undefined && <> <Status value={task.lastRunStatus} /></>}
          </dd>
          <dd className='quiet'>{say('tasks.successful', { total: task.totalRuns, count: task.successfulRuns })}</dd>
        </div>
        <div>
          <dt>{say('tasks.approval')}</dt>
          <dd>{say(`tasks.mode.${mode}`, { count: firstN })}</dd>
          {countsRuns(mode) && <dd className='quiet'>{say('tasks.approvedRuns', { count: approvedRuns })}</dd>}
        </div>
      </dl>
      <Setup task={task} />
    </section>
  )
}

/** The folder, the model and the limits of a task. */
function Setup ({ task: { cwd, options = {} } }: { task: Task }) {
  const { budget } = options
  return (
    <details>
      <summary>{say('tasks.more')}</summary>
      <dl className='facts'>
        <dt>{say('tasks.cwd')}</dt>
        <dd><code><VisibleText text={cwd} limit={500} /></code></dd>
        {OPTIONS.map((name) => options[name] !== undefined && (
          <div key={name} className='facts-pair'>
            <dt>{say(`tasks.option.${name}`)}</dt>
            <dd><VisibleText text={options[name]} limit={500} /></dd>
          </div>
        ))}
        {budget && (
          <>
            <dt>{say('tasks.budget')}</dt>
            <dd>
              {[
                ...budget.usd !== undefined ? [say('tasks.usd', { amount: budget.usd })] : [],
                ...budget.tokens !== undefined ? [say('tasks.tokens', { count: budget.tokens })] : [],
                ...budget.minutes !== undefined ? [say('tasks.minutes', { count: budget.minutes })] : []
              ].join(', ')}
            </dd>
          </>
        )}
        {options.app !== undefined && <><dt>{say('tasks.app')}</dt><dd><VisibleText text={options.app} limit={128} /></dd></>}
      </dl>
    </details>
  )
}
