import { Link } from 'wouter'
import type { RunTask } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Status } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The task that a request became. */
export function TaskCard ({ task: { taskId, goal, status, interval, nextRunAt } }: { task: RunTask }) {
  return (
    <div className='task-card'>
      <p><strong>{say('chat.task')}</strong> <Status value={status} /></p>
      <p><VisibleText text={goal} /></p>
      <p className='quiet'>
        {interval !== undefined && <><VisibleText text={interval} />{' · '}</>}
        {nextRunAt !== undefined && <>{say('chat.nextRun')} <Time at={nextRunAt} />{' · '}</>}
        <Link href={`/tasks/${encodeURIComponent(taskId)}`}>{say('chat.openTask')}</Link>
      </p>
    </div>
  )
}
