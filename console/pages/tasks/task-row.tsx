import { Link } from 'wouter'
import type { Task } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { sayScheduleWords } from './schedule-words.ts'
import { hasOpenResult, statusOf } from './task-words.ts'

/** A task in the list: its name, its state, when it runs, and its last and next run. */
export function TaskRow ({ task }: { task: Task }) {
  const { id, name, taskType, schedule, lastRunAt, lastRunStatus, nextRunAt, totalRuns, health } = task
  const isNext = nextRunAt !== undefined && task.status === 'scheduled'
  return (
    <div className='task-row'>
      <Link href={`/tasks/${id}`} className='task-goal'><VisibleText text={name} limit={Infinity} /></Link>
      <span className='task-state'>
        <Status value={statusOf(task)} />
        {hasOpenResult(task) && <> <Status value='resultWaits' /></>}
        {health.state === 'failing'
          ? <> <Status value='failing' /></>
          : lastRunStatus === 'failed' && task.status !== 'failed' && <> <Status value='lastRunFailed' /></>}
      </span>
      <span className='quiet task-when'>
        {schedule ? <span lang='en'>{sayScheduleWords(task)}</span> : say(`tasks.type.${taskType}`)}
        {totalRuns > 0 && <> · {say('tasks.runCount', { count: totalRuns })}</>}
      </span>
      <span className='quiet task-next'>
        {isNext
          ? <>{say('tasks.next')} <Time at={nextRunAt} /></>
          : lastRunAt !== undefined
            ? <>{say('tasks.last')} <Time at={lastRunAt} /></>
            : totalRuns === 0 && say('tasks.neverRan')}
      </span>
    </div>
  )
}
