import { useQuery } from '@tanstack/react-query'
import { Dialog as Base } from '@base-ui/react/dialog'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { Search } from 'lucide-react'
import { useLocation } from 'wouter'
import { listTasks, listThreads, searchThreads } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import { VisibleText } from '../visible-text.tsx'
import { places, type Entry } from './entries.ts'

/** The pause in typing after which the search starts, in milliseconds. */
const TYPING_MS = 150
const MOST_OF_A_KIND = 6
/** The maximum number of characters of an entry; the style usually cuts the line earlier. */
const SHOWN = 200

const holds = (text: string, words: string[]) => words.every((word) => text.toLowerCase().includes(word))

interface Props {
  onClose: () => void
  onKeys: () => void
}

/** The command palette. It finds pages, conversations, tasks, messages and general actions as the user types. */
export default function Palette ({ onClose, onKeys }: Props) {
  const [, navigate] = useLocation()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const field = useRef<HTMLInputElement>(null)
  const entries = useEntries(typed, { navigate, onKeys })
  const current = Math.min(at, entries.length - 1)
  useEffect(() => {
    document.getElementById(`${list} ${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, current])
  const take = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.go()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((current + step + entries.length) % entries.length)
    } else if (event.key === 'Enter' && !event.repeat) {
      event.preventDefault()
      take(entries[current])
    }
  }
  return (
    <Base.Root open onOpenChange={(isOpen) => { if (!isOpen) onClose() }}>
      <Base.Portal>
        <Base.Backdrop className='dialog-backdrop' />
        <Base.Popup className='palette' initialFocus={field} aria-label={say('palette.title')}>
          <div className='palette-field'>
            <Search />
            <input
              ref={field} type='text' role='combobox' aria-expanded aria-controls={list} aria-autocomplete='list' maxLength={200}
              aria-activedescendant={entries.length > 0 ? `${list} ${current}` : undefined}
              aria-label={say('palette.title')} placeholder={say('palette.hint')} value={typed}
              onChange={({ target }) => {
                setTyped(target.value)
                setAt(0)
              }}
              onKeyDown={onKeyDown}
            />
          </div>
          {entries.length === 0 && <p className='quiet palette-none'>{say('palette.none')}</p>}
          <ul id={list} role='listbox' aria-label={say('palette.found')} className='palette-list'>
            {entries.map((entry, n) => (
              <li
                key={entry.key} id={`${list} ${n}`} role='option' aria-selected={n === current}
                onPointerMove={() => setAt(n)} onClick={() => take(entry)}
              >
                <entry.icon />
                <span className='palette-text' title={visibleText(entry.text)}>
                  <VisibleText text={entry.text.slice(0, SHOWN)} limit={Infinity} />
                </span>
                <span className='quiet'>{entry.kind}</span>
              </li>
            ))}
          </ul>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/**
 * Returns the entries for the typed text: places, conversations and tasks by name, messages by their text. Without a typed text, it returns
 * the latest conversations.
 */
function useEntries (typed: string, { navigate, onKeys }: { navigate: (to: string) => void, onKeys: () => void }): Entry[] {
  const all = places(navigate, onKeys)
  const threads = useQuery({
    queryKey: [...keys.threads(), 'palette'],
    queryFn: () => listThreads({ ...asked(), query: { limit: 100 } }).then(body)
  })
  const tasks = useQuery({
    queryKey: [...keys.tasks(), 'palette'],
    queryFn: () => listTasks({ ...asked(), query: { limit: 100 } }).then(body)
  })
  const q = useSettled(typed.trim(), TYPING_MS)
  const said = useQuery({
    queryKey: [...keys.threads(), 'palette', q],
    queryFn: () => searchThreads({ ...asked(), query: { q, limit: MOST_OF_A_KIND } }).then(body),
    enabled: q.length > 1
  })
  const words = typed.toLowerCase().split(/\s+/).filter((word) => word !== '')
  const conversations = (threads.data?.threads ?? []).map(({ id, title }) => all.conversation(id, title || say('chat.untitled')))
  const work = (tasks.data?.tasks ?? []).map(({ id, name, goal }) => all.task(id, name, goal))
  const found = q.length > 1 && words.length > 0
    ? (said.data?.results ?? []).filter(({ messageId }) => messageId !== undefined).map(all.said)
    : []
  const fitting = (entries: Entry[]) => entries.filter(({ text, also = '' }) => holds(`${text} ${also}`, words))
  const some = (entries: Entry[]) => fitting(entries).slice(0, MOST_OF_A_KIND)
  if (words.length === 0) return [...some(conversations), ...all.entries, ...some(work)]
  return [...fitting(all.entries), ...some(conversations), ...some(work), ...found]
}
