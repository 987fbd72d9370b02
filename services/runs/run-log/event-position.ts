import type { RunEvent } from '../../contracts/run-events.ts'
import { newId } from '../../lib/ids.ts'

/**
 * A position in a run's log up to which a reader has read. The position is the same in memory and on disk, where adjacent deltas are joined
 * into one event and transient events are missing. It counts whole events, then the characters of deltas after these events, then the
 * transient events after those deltas.
 */
export interface EventPosition {
  /** Identifies the log. Two logs of a run have the same tag only if their events have the same positions. */
  tag: string
  whole: number
  characters: number
  transient: number
}

/** Returns the tag for a run's log that contains all events. */
export const logTag = (runId: string): string => runId.slice(-12)

/** Returns the tag for the log of a run's stored events, if some events are missing. The tag changes when more events are stored. */
export const storedTag = (runId: string, events: number): string => `${logTag(runId)}-${events}`

/** Returns a tag for a log that no reader resumes. */
export const newTag = (): string => newId().slice(-12)

/** Whether a position belongs to a log of a run. */
export const isOfRun = ({ tag }: EventPosition, runId: string): boolean => tag.slice(0, 12) === logTag(runId)

export const logBegin = (tag: string): EventPosition => ({ tag, whole: 0, characters: 0, transient: 0 })

/**
 * A batch of a log with its positions. They are properties of the batch, because a map from batches to positions would cost more than all
 * other work for one token.
 */
interface Placed {
  begin?: EventPosition
  end?: EventPosition
}

/** Returns the positions before the first and after the last event of a batch; undefined for events that belong to no log. */
export const placesOf = (batch: readonly RunEvent[] & Placed): Required<Placed> | undefined =>
  batch.begin === undefined ? undefined : batch as Required<Placed>

/** Records the position at which a batch begins, once for all of its readers. Returns the position at which the batch ends. */
export function placeBatch (batch: readonly RunEvent[] & Placed, begin: EventPosition): EventPosition {
  if (batch.end === undefined) {
    batch.begin = begin
    batch.end = batch.reduce(advance, { ...begin })
  }
  return batch.end
}

/** Types of events that are not stored, or that can be stored before earlier events. */
const TRANSIENT = new Set<RunEvent['type']>(['tool-progress', 'waiting', 'notice', 'steer'])

/**
 * Moves a position behind the next event, and returns it. It changes the object, because a new one for each token would double the garbage
 * of a stream.
 */
export function advance (position: EventPosition, event: RunEvent): EventPosition {
  const isDelta = 'delta' in event
  if (!isDelta && TRANSIENT.has(event.type)) position.transient++
  else {
    if (!isDelta) position.whole++
    position.characters = isDelta ? position.characters + event.delta.length : 0
    position.transient = 0
  }
  return position
}

/** Returns the SSE `id:` for the event that ends at a position. */
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
 * Finds the events after a position in a log: the index of the next event and, if the position is inside a delta, the rest of that delta.
 * Returns undefined if the log has no such position.
 */
export function findAfter (
  events: readonly RunEvent[],
  position: EventPosition,
  tag: string
): { next: number, rest: RunEvent[] } | undefined {
  if (position.tag !== tag) return undefined
  let at = logBegin(tag)
  for (const [n, event] of events.entries()) {
    const after = advance({ ...at }, event)
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
