import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { ServiceEvent } from '../../../client/events.ts'
import { deleteFact, type MemoryChangedEvent } from '../../../client/generated/index.ts'
import { Button } from '../../parts/button.tsx'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { say } from '../say.ts'
import { asked } from '../service.ts'
import { useServiceEvents } from './live-updates.tsx'

/** How long a new entry is shown, in milliseconds, unless the pointer or the focus is on it. The entry stays in the memory. */
const SHOWN_MS = 20_000
/** The maximum number of entries that are shown at once, newest first. */
const SHOWN = 3
type Entries = MemoryChangedEvent['learned']

/**
 * Shows entries that the memory has just learned from a conversation, each with a button that erases it. An entry disappears after a while
 * or when it is closed.
 */
export function Learned () {
  const [entries, setEntries] = useState<Entries>([])
  const [isHeld, setIsHeld] = useState(false)
  const announce = useAnnounce()
  const drop = (ids: string[]) => setEntries((known) => known.filter(({ id }) => !ids.includes(id)))
  const newest = entries.at(-1)
  const forget = useMutation({
    mutationFn: (id: string) => deleteFact({ ...asked(), path: { id } }),
    onSuccess: (_, id) => drop([id])
  })

  useServiceEvents((event: ServiceEvent) => {
    if (event.type !== 'memory:changed') return
    if (event.forgotten.length > 0) drop(event.forgotten)
    if (event.threadId !== undefined) setEntries((known) => [...known, ...event.learned].slice(-SHOWN))
  })
  useEffect(() => {
    if (newest !== undefined) announce(say('memory.learned', { text: newest.fact }))
  }, [newest?.id])
  useEffect(() => {
    if (newest === undefined) return setIsHeld(false)
    if (isHeld) return
    const timer = setTimeout(() => setEntries([]), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [newest?.id, isHeld])

  if (entries.length === 0) return null
  return (
    <aside
      className='learned' aria-label={say('memory.learnedLabel')}
      onPointerEnter={() => setIsHeld(true)} onPointerLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)} onBlur={() => setIsHeld(false)}
    >
      <ul>
        {entries.map(({ id, fact }) => (
          <li key={id}>
            <span>{say('memory.learned', { text: fact })}</span>
            <Button kind='quiet' isBusy={forget.isPending && forget.variables === id} onClick={() => forget.mutate(id)}>
              {say('memory.forget')}
            </Button>
          </li>
        ))}
      </ul>
      {forget.error !== null && <Failed error={forget.error} />}
      <div className='learned-actions'>
        <Link href='/memory'>{say('memory.title')}</Link>
        <Button kind='quiet' onClick={() => setEntries([])}>{say('app.close')}</Button>
      </div>
    </aside>
  )
}
