import type { Thread } from '../../../../client/generated/index.ts'
import { lastPart } from '../../../lib/last-part.ts'
import { say } from '../../../lib/say.ts'
import { sayPeriod } from '../../../lib/time.ts'

interface ThreadGroup {
  name: string
  /** The full name of the group. */
  title: string
  threads: Thread[]
}

/** Returns true if a conversation is pinned. The service stores unknown fields that clients set, such as `pinned`. */
export const isPinned = (thread: Thread): boolean => (thread as { pinned?: unknown }).pinned === true

/** Returns the folder that was chosen for a conversation. */
export const folderOf = ({ settings }: Thread): string | undefined => settings?.cwd

/**
 * Returns the pinned conversations as one group, and the others grouped by the time of their last change or by folder. Each group keeps the
 * order of the conversations.
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
