import type { RunEvent } from '../../contracts/run-events.ts'
import { advance, logBegin, newTag, placeBatch } from './event-position.ts'

export type RunLog = ReturnType<typeof createRunLog>

/** The maximum size of a run's events, bytes. 25 steps with a screenshot each fit. A larger run is out of control. */
export const LOG_LIMIT = 32 * 1024 * 1024
/**
 * The most bytes that one event adds to a reader's lag, so that one large output, such as an image, does not make a reader count as slow.
 */
const MAX_EVENT_LAG = 64 * 1024

/** The maximum size of a batch, bytes, unless it is a single event. An unread batch stays in memory. */
const BATCH_BYTES = 64 * 1024
/** The number of cached batches. Readers at the same position get the same array, so that each batch is rendered once for all of them. */
const CACHED_BATCHES = 4

/** The estimated size of a recorded change of a file, bytes. */
const CHANGE_BYTES = 256

/** Estimates the size of an event in memory and on the wire, bytes. */
function sizeOf (event: RunEvent): number {
  if (event.type === 'text-delta' && event.providerMetadata === undefined) return event.delta.length + 64
  const attached = 'providerMetadata' in event && event.providerMetadata !== undefined ? JSON.stringify(event.providerMetadata).length : 0
  if ('delta' in event) return event.delta.length + attached + 64
  if (event.type === 'tool-output') return JSON.stringify(event.output).length + (event.changes?.length ?? 0) * CHANGE_BYTES + 64
  if (event.type === 'tool-progress') return (event.message?.length ?? 0) + 256
  if (event.type === 'aside' || event.type === 'steer' || event.type === 'message') return event.text.length + 64
  if (event.type === 'object') return JSON.stringify(event.object).length + 64
  if (event.type === 'tool-input' || event.type === 'tool-input-error') return (JSON.stringify(event.input)?.length ?? 0) + attached + 64
  if (event.type === 'question-request' || event.type === 'question-closed') return JSON.stringify(event.questions).length + 64
  return 256 + attached
}

interface Reading {
  opening?: Promise<readonly RunEvent[]>
  onRead?: (batch: readonly RunEvent[]) => void
}

/**
 * Keeps the events of one run in order. The run appends events, and any number of readers read from any position. All events stay in memory
 * while the run is active (`checkLength` enforces LOG_LIMIT), so that a reader can begin at the first event. `tag`: see `EventPosition`.
 */
export function createRunLog (history: readonly RunEvent[] = [], tag = newTag()) {
  const events: RunEvent[] = []
  /** The total bytes up to and including each event, so that a reader's lag is one subtraction. */
  const sums: number[] = []
  let bytes = 0
  let counted = 0
  let ended = false
  const waiting = new Set<() => void>()
  const cached: Array<{ start: number, batch: RunEvent[] }> = []

  const wake = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const before = (position: number) => position === 0 ? 0 : sums[position - 1]
  const add = (event: RunEvent) => {
    events.push(event)
    const size = sizeOf(event)
    bytes += size
    sums.push(counted += Math.min(size, MAX_EVENT_LAG))
  }
  /**
   * Returns the batch that begins at a position. The batch ends at a boundary, a multiple of BATCH_BYTES that all readers share, or at the
   * end of a segment (the part of a run between two waits for a person).
   */
  const batchAt = (start: number) => {
    let end = start
    const boundary = before(start) - before(start) % BATCH_BYTES + BATCH_BYTES
    while (end < events.length && events[end++].type !== 'finish' && sums[end - 1] < boundary);
    const same = cached.find((entry) => entry.start === start && entry.batch.length === end - start)
    if (same !== undefined) return same.batch
    const batch = events.slice(start, end)
    if (cached.unshift({ start, batch }) > CACHED_BATCHES) cached.pop()
    return batch
  }
  history.forEach(add)

  return {
    events: events as readonly RunEvent[],
    tag,
    get bytes () {
      return bytes
    },
    get ended () {
      return ended
    },

    append (event: RunEvent) {
      add(event)
      if (waiting.size > 0) wake()
    },

    /** Ends the log; readers finish after the last event. */
    end () {
      ended = true
      wake()
    },

    /** Returns the bytes between a position and the newest event. */
    lag: (position: number) => counted - before(position),

    /**
     * Yields batches of events from `position` on, each about BATCH_BYTES at most, and waits for more. Ends after the `finish` event of the
     * segment, at the end of the log, or when the signal aborts. The events of `opening` are yielded first. `onRead` is called before each
     * batch of the log.
     */
    async * read (position: number, signal: AbortSignal, { opening, onRead }: Reading = {}): AsyncGenerator<readonly RunEvent[]> {
      const first = await opening
      if (first !== undefined && first.length > 0) yield first
      let place = events.slice(0, position).reduce(advance, logBegin(tag))
      signal.addEventListener('abort', wake)
      try {
        while (!signal.aborted) {
          if (position === events.length) {
            if (ended) return
            // Continues only after all events that are appended at this time, so that parts that arrived together become one batch.
            await new Promise<void>((resolve) => waiting.add(resolve))
            continue
          }
          const batch = batchAt(position)
          place = placeBatch(batch, place)
          position += batch.length
          onRead?.(batch)
          yield batch
          if (batch.at(-1)!.type === 'finish') return
        }
      } finally {
        signal.removeEventListener('abort', wake)
      }
    }
  }
}

/** Returns the index of the `start` event of a segment; -1 if there is none. Segments are counted from 0. */
export function segmentStart (events: readonly RunEvent[], segment: number): number {
  let seen = -1
  return events.findIndex((event) => event.type === 'start' && ++seen === segment)
}
