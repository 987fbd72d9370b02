import type { Thread } from '../../../../client/generated/index.ts'
import { lastPart } from '../../../lib/last-part.ts'
import { say } from '../../../lib/say.ts'
import { sayPeriod } from '../../../lib/time.ts'

interface ThreadGroup {
  name: string
  /** The name in full. */
  title: string
  threads: Thread[]
}

/** The service keeps what clients store with a conversation. */
export const isPinned = (thread: Thread): boolean => (thread as { pinned?: unknown }).pinned === true

/** The folder that was chosen for a conversation. */
export const folderOf = ({ settings }: Thread): string | undefined => settings?.cwd

/**
 * Returns the conversations that are pinned, and the others by the periods in which they were changed last or by their folders. Each group
 * keeps the order of the conversations.
 */
export function groupThreads (threads: Thread[], by: 'time' | 'folder', now: number): ThreadGroup[] {
  const titleOf = (thread: Thread): string => {
    if (isPinned(thread)) return say('chat.pinned')
    return by === 'folder' ? folderOf(thread) ?? say('chat.usualFolder') : sayPeriod(thread.updatedAt, now)
  }
  const groups = new Map<string, Thread[]>()
  for (const thread of threads.toSorted((one, other) => Number(isPinned(other)) - Number(isPinned(one)))) {
    const title = titleOf(thread)
    groups.set(title, [...groups.get(title) ?? [], thread])
  }
  const titles = [...groups.keys()]
  const isOnlyOne = (name: string) => titles.filter((title) => lastPart(title) === name).length === 1
  return [...groups].map(([title, some]) => {
    const name = by === 'folder' ? lastPart(title) : title
    return { name: isOnlyOne(name) ? name : title, title, threads: some }
  })
}
