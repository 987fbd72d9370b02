import { useMutation } from '@tanstack/react-query'
import { steerTask } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import type { Task } from './task-queries.ts'

/** A form for a comment that the next run of a task, and all later ones, receive. */
export function Steer ({ task: { id, status } }: { task: Task }) {
  const [comment, setComment] = useDraft(`steer ${id}`)
  const announce = useAnnounce()
  const steer = useMutation({
    mutationFn: (runNow: boolean) => steerTask({ ...asked(), path: { id }, body: { comment, runNow } }).then(body),
    onSuccess ({ runTriggered }) {
      setComment('')
      announce(say(runTriggered ? 'tasks.steeredNow' : 'tasks.steered'))
      void queries.invalidateQueries({ queryKey: keys.task(id) })
    }
  })
  const isEmpty = comment.trim() === ''
  return (
    <section className='section' aria-label={say('tasks.steer')}>
      <div className='steer'>
        <textarea
          rows={1} maxLength={4_000} aria-label={say('tasks.steer')} placeholder={say('tasks.steerHelp')} value={comment}
          onChange={({ target }) => setComment(target.value)}
        />
        <div className='actions'>
          <Button disabled={isEmpty} isBusy={steer.isPending} onClick={() => steer.mutate(false)}>{say('tasks.steerLater')}</Button>
          {status !== 'cancelled' && (
            <Button disabled={isEmpty} isBusy={steer.isPending} onClick={() => steer.mutate(true)}>{say('tasks.steerNow')}</Button>
          )}
        </div>
      </div>
      {steer.isError && <Failed error={steer.error} />}
      {steer.isSuccess && isEmpty && <p className='quiet'>{say(steer.data.runTriggered ? 'tasks.steeredNow' : 'tasks.steered')}</p>}
    </section>
  )
}
