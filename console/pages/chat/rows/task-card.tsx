import { useMutation, useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { Link } from 'wouter'
import { cancelTask, deleteTask, getTask, type RunTask } from '../../../../client/generated/index.ts'
import { AgentError } from '../../../../client/errors.ts'
import { keys, queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Status } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { sayWords } from '../../tasks/schedule-words.ts'
import { keepTask, oneTask, type Task } from '../../tasks/task-queries.ts'

/** The number of planned times on the card. */
const TIMES_SHOWN = 3
const CAN_BE_UNDONE: ReadonlyArray<Task['status']> = ['planned', 'scheduled', 'running', 'pending_approval', 'paused']

const isGone = (error: unknown) => error instanceof AgentError && error.statusCode === 404

/** Undoes the creation of a task: deletes the task if it never ran, else cancels it. */
async function undo (id: string): Promise<'cancelled' | 'deleted'> {
  const request = { ...asked(), path: { id } }
  const { totalRuns, status } = await getTask(request).then(body)
  if (totalRuns > 0 || status === 'running' || status === 'pending_approval') {
    keepTask(await cancelTask(request).then(body))
    return 'cancelled'
  }
  await deleteTask(request)
  void queries.invalidateQueries({ queryKey: keys.tasks() })
  return 'deleted'
}

/** The current state of the task that a request created, with a button that undoes the creation. */
export function TaskCard ({ task: shown }: { task: RunTask }) {
  const { taskId, goal, status: first, interval, words = interval, nextRunAt, next, isNew } = shown
  const announce = useAnnounce()
  const { data: task, error } = useQuery({ ...oneTask(taskId), retry: (failures, failed) => !isGone(failed) && failures < 3 })
  const undoing = useMutation({ mutationFn: () => undo(taskId), onSuccess: () => announce(say('chat.taskUndone')) })
  const status = task?.status ?? first
  if (undoing.data === 'deleted' || isGone(error)) {
    return (
      <div className='task-card'>
        <p><strong>{say('chat.taskGone')}</strong></p>
        <p className='quiet'><VisibleText text={goal} /></p>
      </div>
    )
  }
  const times = next ?? (nextRunAt === undefined ? [] : [nextRunAt])
  return (
    <div className='task-card'>
      <p><strong>{say(isNew ? 'chat.task' : 'chat.taskKnown')}</strong> <Status value={status} /></p>
      <p><VisibleText text={task?.name ?? goal} /></p>
      <p className='quiet'>
        {words !== undefined && <>{sayWords(words)}{' · '}</>}
        {times.length > 0 && (
          <>
            {say('chat.nextRun')} {times.slice(0, TIMES_SHOWN).map((at, n) => (
              <Fragment key={at}>{n > 0 && `, ${say('chat.moreTimes')} `}<Time at={at} /></Fragment>
            ))}{' · '}
          </>
        )}
        <Link href={`/tasks/${encodeURIComponent(taskId)}`}>{say('chat.openTask')}</Link>
      </p>
      {isNew && CAN_BE_UNDONE.includes(status) && (
        <p><Button isBusy={undoing.isPending} onClick={() => undoing.mutate()}>{say('chat.undoTask')}</Button></p>
      )}
      {undoing.isError && <Failed error={undoing.error} />}
    </div>
  )
}
