import { say } from '../../lib/say.ts'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { countsRuns } from './form-values.ts'
import { sayScheduleWords } from './schedule-words.ts'
import { hasOpenResult, statusOf, titleOf, type TaskOption } from './task-words.ts'
import type { Task } from './task-queries.ts'

const OPTIONS: TaskOption[] = ['agent', 'model', 'effort', 'instructions']

/** The state of a task and how it is set up. */
export function TaskFacts ({ task }: { task: Task }) {
  const { goal, taskType, schedule, cwd, approval: { mode, firstN, approvedRuns }, options = {} } = task
  const { budget } = options
  return (
    <section className='section' aria-label={say('tasks.facts')}>
      {titleOf(task) !== goal.trim() && <p className='goal'><VisibleText text={goal} limit={1_000} /></p>}
      <dl className='facts'>
        <dt>{say('tasks.state')}</dt>
        <dd>
          <Status value={statusOf(task)} />
          {hasOpenResult(task) && <> <Status value='resultWaits' /></>}
          {task.health.state === 'failing' && (
            <>
              {' '}<Status value='failing' />
              <span className='quiet'> · {say('tasks.health', { count: task.health.failures })}. {say('tasks.tried')}.</span>
            </>
          )}
        </dd>
        <dt>{say('tasks.when')}</dt>
        <dd>
          {schedule
            ? <span lang='en'>{sayScheduleWords(task)}</span>
            : say(task.triggers ? 'tasks.byTriggers' : `tasks.type.${taskType}`)}
        </dd>
        {task.retryAt !== undefined && (
          <><dt>{say('tasks.outage')}</dt><dd>{say('tasks.retry')} <Time at={task.retryAt} /></dd></>
        )}
        {task.nextRunAt !== undefined && task.status === 'scheduled' && (
          <><dt>{say('tasks.next')}</dt><dd><Time at={task.nextRunAt} /></dd></>
        )}
        <dt>{say('tasks.last')}</dt>
        <dd>
          {task.lastRunAt === undefined ? say('time.never') : <Time at={task.lastRunAt} />}
          {task.lastRunStatus !== undefined && <> <Status value={task.lastRunStatus} /></>}
        </dd>
        <dt>{say('tasks.runs')}</dt>
        <dd>{say('tasks.successful', { total: task.totalRuns, count: task.successfulRuns })}</dd>
        <dt>{say('tasks.approval')}</dt>
        <dd>
          {say(`tasks.mode.${mode}`, { count: firstN })}
          {countsRuns(mode) && <span className='quiet'> · {say('tasks.approvedRuns', { count: approvedRuns })}</span>}
        </dd>
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
    </section>
  )
}
