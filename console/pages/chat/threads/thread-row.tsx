import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { deleteThread, type Thread } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { visibleText } from '../../../lib/visible-characters.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Status } from '../../../parts/status.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { RenameThread } from './rename-thread.tsx'

interface Props {
  /** Without a state it shows its time. */
  thread: Pick<Thread, 'id' | 'title' | 'updatedAt'> & Partial<Pick<Thread, 'status'>>
  isCurrent: boolean
  onOpen: () => void
  onDeleted: () => void
  /** What was found in it. */
  children?: ReactNode
}

/** A conversation in the list; the one that is shown can be renamed and deleted. */
export function ThreadRow ({ thread: { id, title, status, updatedAt }, isCurrent, onOpen, onDeleted, children }: Props) {
  const [isRenaming, setIsRenaming] = useState(false)
  const queries = useQueryClient()
  async function remove () {
    await deleteThread({ ...asked(), path: { id } })
    queries.removeQueries({ queryKey: keys.thread(id) })
    void queries.invalidateQueries({ queryKey: keys.threads() })
    onDeleted()
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
