import { EVENT_TYPES, type EventsQuery } from '../../schemas/events.ts'
import { defineError } from '../lib/service-error.ts'
import { TwoOwners } from '../runs/index.ts'

/** An event in the buffer. Its frame is built once for all readers. */
interface KeptEvent {
  /** Counted from 1 since the start of the service. */
  position: number
  type: string
  threadId?: string
  taskId?: string
  /** The lines of the event in a stream, without `id:`, including the empty line at the end. */
  frame: string
}

/** The most events that are kept for readers that resume. */
const MAX_EVENTS = 10_000
/** The most characters of all kept frames together. A single longer event is kept nevertheless. */
const MAX_LENGTH = 16 * 1024 * 1024

/** Creates the buffer that keeps the newest events in memory, for readers that resume and for readers that are behind. */
export function createReplayBuffer () {
  const kept = new Map<number, KeptEvent>()
  let length = 0
  let newest = 0

  return {
    /** The position of the newest event; 0 before the first. */
    get newest () {
      return newest
    },
    /** Whether all events after this position are still kept. */
    holdsAfter: (position: number) => position <= newest && position >= newest - kept.size,
    at: (position: number): KeptEvent => kept.get(position)!,

    add (event: Omit<KeptEvent, 'position'>): KeptEvent {
      const added = { ...event, position: ++newest }
      kept.set(newest, added)
      length += added.frame.length
      while (kept.size > MAX_EVENTS || (length > MAX_LENGTH && kept.size > 1)) {
        const oldest = newest - kept.size + 1
        length -= kept.get(oldest)!.frame.length
        kept.delete(oldest)
      }
      return added
    }
  }
}

export type ReplayBuffer = ReturnType<typeof createReplayBuffer>

const UnknownTypes = defineError('ERR_BAD_REQUEST', 'There is no event type "%s". The types are: %s.')

/** Defines which events a reader gets, and in which form. */
export interface EventView {
  /** Readers with equal keys get the same text. */
  key: string
  /** Whether events carry an `id:` that the reader can resume from. */
  hasIds: boolean
  accepts: (event: KeptEvent) => boolean
}

/** True for events that every reader gets. */
const isForAll = (type: string) => type === 'service:shutdown'

/** The view of `/tasks/events`: the events of all tasks, without ids. */
export const tasksView: EventView = {
  key: 'tasks',
  hasIds: false,
  accepts: ({ type }) => type.startsWith('task:') || isForAll(type)
}

/** Creates the view that a query describes. Throws UnknownTypes or TwoOwners (400). */
export function eventView ({ threadId, taskId, types }: Pick<EventsQuery, 'threadId' | 'taskId' | 'types'>): EventView {
  if (threadId !== undefined && taskId !== undefined) throw new TwoOwners()
  const wanted = types?.split(',').map((type) => type.trim())
  const unknown = wanted?.find((type) => !EVENT_TYPES.includes(type))
  if (unknown !== undefined) throw new UnknownTypes(unknown.slice(0, 100), EVENT_TYPES.join(', '))
  const included = wanted && new Set(wanted)
  return {
    key: JSON.stringify([threadId, taskId, wanted]),
    hasIds: true,
    accepts: (event) =>
      isForAll(event.type) || (
        (included === undefined || included.has(event.type)) &&
        (threadId === undefined || event.threadId === threadId) &&
        (taskId === undefined || event.taskId === taskId)
      )
  }
}
