import { useMutation, useQuery } from '@tanstack/react-query'
import { listThreads, putThread, type Thread } from '../../../../client/generated/index.ts'
import { keys, queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The maximum number of deleted conversations in the list. */
const LISTED = 100

/** The conversations that were deleted in the last 30 days, each with a button that restores it. */
export function DeletedThreads ({ onRestored }: { onRestored: (id: string) => void }) {
  const { data } = useQuery({
    queryKey: [...keys.threads(), 'deleted'],
    queryFn: () => listThreads({ ...asked(), query: { deleted: true, limit: LISTED } }).then(body)
  })
  if (data === undefined || data.threads.length === 0) return null
  return (
    <details>
      <summary className='quiet'>{say('chat.recentlyDeleted', { count: data.threads.length })}</summary>
      <ul className='thread-list'>
        {data.threads.map((thread) => <DeletedThread key={thread.id} thread={thread} onRestored={onRestored} />)}
      </ul>
    </details>
  )
}

type Deleted = Pick<Thread, 'id' | 'title' | 'deletedAt'>

/** Offers to restore the conversation that was just deleted on this page. */
export function JustDeleted ({ thread, onRestored }: { thread: Deleted, onRestored: (id: string) => void }) {
  return (
    <div role='status'>
      <ul className='thread-list'>
        <DeletedThread
          thread={{ ...thread, title: say('chat.justDeleted', { title: thread.title || say('chat.untitled') }) }}
          onRestored={onRestored}
        />
      </ul>
    </div>
  )
}

function DeletedThread ({ thread: { id, title, deletedAt }, onRestored }: { thread: Deleted, onRestored: (id: string) => void }) {
  const restore = useMutation({
    mutationFn: () => putThread({ ...asked(), path: { id }, body: { restore: true } }),
    async onSuccess () {
      queries.removeQueries({ queryKey: keys.thread(id) })
      await queries.invalidateQueries({ queryKey: keys.threads() })
      onRestored(id)
    }
  })
  return (
    <li className='thread-deleted'>
      <span className='thread-title'><VisibleText text={title || say('chat.untitled')} limit={200} /></span>
      {deletedAt !== undefined && <span className='quiet'><Time at={deletedAt} isShort /></span>}
      <Button isBusy={restore.isPending} onClick={() => restore.mutate()}>{say('chat.restore')}</Button>
      {restore.isError && <Failed error={restore.error} />}
    </li>
  )
}
