import { EVENT_TYPES, type EventsQuery } from '../../schemas/stream-events.ts'
import { defineError } from '../lib/service-error.ts'
import { TwoOwners } from '../runs/index.ts'
import type { KeptEvent } from './replay-buffer.ts'

const UnknownTypes = defineError('ERR_BAD_REQUEST', 'There is no event type "%s". The types are: %s.')

/** The events that a reader gets, and how. */
export interface EventView {
  /** Readers with equal keys get the same text. */
  key: string
  /** Whether events carry an `id:` that the reader may resume from. */
  hasIds: boolean
  accepts: (event: KeptEvent) => boolean
}

/** Events that every reader gets. */
const isForAll = (type: string) => type === 'service:shutdown'

/** The view of `/tasks/events`: the events of all tasks, without ids. */
export const tasksView: EventView = {
  key: 'tasks',
  hasIds: false,
  accepts: ({ type }) => type.startsWith('task:') || isForAll(type)
}

/** Returns the view that a query describes. Throws UnknownTypes or TwoOwners (400). */
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
