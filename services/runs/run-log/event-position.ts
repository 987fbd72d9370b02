import type { RunEvent } from '../../contracts/run-events.ts'
import { newId } from '../../lib/ids.ts'

/**
 * A position in a run's log, up to which it was read. It is the same in memory and on disk, where adjacent deltas are joined to one event
 * and transient events are missing: the number of whole events, then of characters of deltas after these, then of transient events after
 * those.
 */
export interface EventPosition {
  /** Identifies the log. Two logs of a run have the same tag only if their events have the same positions. */
  tag: string
  whole: number
  characters: number
  transient: number
}

/** Returns the tag of a run's log in which all events have their positions. */
export const logTag = (runId: string): string => runId.slice(-12)

/** Returns the tag of a run's stored events, if some are missing: it stays the same until more are stored. */
export const storedTag = (runId: string, events: number): string => `${logTag(runId)}-${events}`

/** Returns a tag for a log to which no reader comes back. */
export const newTag = (): string => newId().slice(-12)

/** Whether a position belongs to a log of a run. */
export const isOfRun = ({ tag }: EventPosition, runId: string): boolean => tag.slice(0, 12) === logTag(runId)

export const logBegin = (tag: string): EventPosition => ({ tag, whole: 0, characters: 0, transient: 0 })

/** A batch of a log. It keeps its own positions: a map from batches to them would cost more than all else that is done for a token. */
interface Placed {
  begin?: EventPosition
  end?: EventPosition
}

/** Returns the positions before the first event of a batch and after its last; undefined for events that belong to no log. */
export const placesOf = (batch: readonly RunEvent[] & Placed): Required<Placed> | undefined =>
  batch.begin === undefined ? undefined : batch as Required<Placed>

/** Records where a batch begins, once for all of its readers. Returns where it ends. */
export function placeBatch (batch: readonly RunEvent[] & Placed, begin: EventPosition): EventPosition {
  if (batch.end === undefined) {
    batch.begin = begin
    batch.end = batch.reduce(positionAfter, begin)
  }
  return batch.end
}

/** Types of events that are not stored, or that may be stored before earlier ones. */
const TRANSIENT = new Set<RunEvent['type']>(['tool-progress', 'waiting', 'notice', 'steer'])

/** Returns the position after an event; the arguments are its position and the event. */
export function positionAfter ({ tag, whole, characters, transient }: EventPosition, event: RunEvent): EventPosition {
  if ('delta' in event) return { tag, whole, characters: characters + event.delta.length, transient: 0 }
  if (TRANSIENT.has(event.type)) return { tag, whole, characters, transient: transient + 1 }
  return { tag, whole: whole + 1, characters: 0, transient: 0 }
}

/** Returns the `id:` of the event that ends at a position. */
export const eventIdOf = ({ tag, whole, characters, transient }: EventPosition): string =>
  `${tag}.${whole}.${characters}${transient === 0 ? '' : `.${transient}`}`

/** Parses what `eventIdOf` returns; undefined for other texts. */
export function readEventId (id: string): EventPosition | undefined {
  const [, tag, ...numbers] = /^([\w-]+)\.(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?$/.exec(id) ?? []
  const [whole, characters, transient] = numbers.map((number) => Number(number ?? 0))
  return tag === undefined ? undefined : { tag, whole, characters, transient }
}

const isBefore = (one: EventPosition, other: EventPosition) =>
  one.whole - other.whole || one.characters - other.characters || one.transient - other.transient

/**
 * Finds what follows a position in a log: the index of the next event, and the rest of a delta if the position is inside of it. Returns
 * undefined if the log has no such position.
 */
export function findAfter (
  events: readonly RunEvent[],
  position: EventPosition,
  tag: string
): { next: number, rest: RunEvent[] } | undefined {
  if (position.tag !== tag) return undefined
  let at = logBegin(tag)
  for (const [n, event] of events.entries()) {
    const after = positionAfter(at, event)
    if (isBefore(after, position) <= 0) {
      at = after
      continue
    }
    const known = position.characters - at.characters
    if (!('delta' in event) || at.whole !== position.whole || known <= 0) return { next: n, rest: [] }
    return { next: n + 1, rest: [{ ...event, delta: event.delta.slice(known) }] }
  }
  return at.whole === position.whole ? { next: events.length, rest: [] } : undefined
}
