import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Pin, PinOff, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { deleteThread, putThread, type Thread } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { visibleText } from '../../../lib/visible-characters.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Status } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { RenameThread } from './rename-thread.tsx'

interface Props {
  /** The conversation. If `status` is absent, the row shows the time instead. */
  thread: Pick<Thread, 'id' | 'title' | 'updatedAt'> & Partial<Pick<Thread, 'status'>> & { pinned?: boolean }
  isCurrent: boolean
  onOpen: () => void
  onDeleted: () => void
  /** Search results in this conversation. */
  children?: ReactNode
}

/** A conversation in the list. The current one can be renamed and deleted. */
export function ThreadRow ({ thread: { id, title, status, updatedAt, pinned = false }, isCurrent, onOpen, onDeleted, children }: Props) {
  const [isRenaming, setIsRenaming] = useState(false)
  const queries = useQueryClient()
  const announce = useAnnounce()
  async function remove () {
    await deleteThread({ ...asked(), path: { id }, query: { restorable: true } })
    queries.removeQueries({ queryKey: keys.thread(id) })
    void queries.invalidateQueries({ queryKey: keys.threads() })
    onDeleted()
  }
  async function pin () {
    await putThread({ ...asked(), path: { id }, body: { pinned: !pinned } }).catch(() => announce(say('app.failed')))
    void queries.invalidateQueries({ queryKey: keys.threads() })
  }
  return (
    <li className='thread-row' data-current={isCurrent || undefined}>
      <Link href={`/chat/${encodeURIComponent(id)}`} aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span className='thread-title' title={visibleText(title)}><VisibleText text={title || say('chat.untitled')} limit={200} /></span>
        <span className='quiet thread-state'>
          {status === undefined
            ? <Time at={updatedAt} isShort />
            : status !== 'idle' && <Status value={status === 'pending_approval' ? 'waiting' : status} />}
        </span>
      </Link>
      {children}
      {isCurrent && (
        <div className='thread-actions'>
          <IconButton icon={pinned ? PinOff : Pin} label={say(pinned ? 'chat.unpin' : 'chat.pin')} onClick={() => void pin()} />
          <IconButton icon={Pencil} label={say('chat.rename')} onClick={() => setIsRenaming(true)} />
          <Confirm
            kind='quiet' icon={Trash2} label={say('chat.delete')} title={say('chat.deleteTitle')} action={say('chat.deleteAction')}
            text={<p>{say('chat.deleteText')}</p>} onConfirm={remove}
          />
          <RenameThread id={id} title={title} isOpen={isRenaming} onClose={() => setIsRenaming(false)} />
        </div>
      )}
    </li>
  )
}
