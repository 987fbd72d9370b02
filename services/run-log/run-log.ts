import type { RunEvent } from './run-events.ts'

export type RunLog = ReturnType<typeof createRunLog>

/** A run that says more than this, with what its tools answer, has run away; a screenshot at each of 25 steps fits in. Bytes. */
export const LOG_LIMIT = 32 * 1024 * 1024
/** One large output, such as a picture, makes nobody a slow reader: it counts as no more than this. */
const MOST_LAG = 64 * 1024

/** A reader gets no more at once, but for a single event: what it does not take is held for it. */
const BATCH_BYTES = 64 * 1024
/** Readers that are equally far get the very same batch, so that what is made of it is made once: so many are known. */
const BATCHES_KNOWN = 4

/** Rough size of an event in memory and on the wire, bytes. */
function sizeOf (event: RunEvent): number {
  const attached = 'providerMetadata' in event && event.providerMetadata !== undefined ? JSON.stringify(event.providerMetadata).length : 0
  if ('delta' in event) return event.delta.length + attached + 64
  if (event.type === 'tool-output') return JSON.stringify(event.output).length + 64
  if (event.type === 'tool-input' || event.type === 'tool-input-error') return (JSON.stringify(event.input)?.length ?? 0) + attached + 64
  return 256 + attached
}

/**
 * The sequenced events of one run. The loop appends, any number of readers follow from any position; all of it is
 * kept while the run lives (LOG_LIMIT bounds it), so that a reader may begin at the first event.
 */
export function createRunLog (history: readonly RunEvent[] = []) {
  const events: RunEvent[] = []
  /** Bytes up to and with each event, so that a reader's lag is one subtraction. */
  const sums: number[] = []
  let bytes = 0
  let counted = 0
  let ended = false
  const waiting = new Set<() => void>()
  const known: Array<{ start: number, batch: RunEvent[] }> = []

  const wake = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const before = (position: number) => position === 0 ? 0 : sums[position - 1]
  const add = (event: RunEvent) => {
    events.push(event)
    const size = sizeOf(event)
    bytes += size
    sums.push(counted += Math.min(size, MOST_LAG))
  }
  /** What follows a position, up to a whole batch or the end of a segment. Batches end at the same places for all. */
  const batchAt = (start: number) => {
    let end = start
    const enough = before(start) - before(start) % BATCH_BYTES + BATCH_BYTES
    while (end < events.length && events[end++].type !== 'finish' && sums[end - 1] < enough);
    const same = known.find((one) => one.start === start && one.batch.length === end - start)
    if (same !== undefined) return same.batch
    const batch = events.slice(start, end)
    if (known.unshift({ start, batch }) > BATCHES_KNOWN) known.pop()
    return batch
  }
  history.forEach(add)

  return {
    events: events as readonly RunEvent[],
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

    /** No event follows; readers finish. */
    end () {
      ended = true
      wake()
    },

    /** Bytes between a position and the newest event. */
    lag: (position: number) => counted - before(position),

    /**
     * Batches of events from `position` on: what there is each time the reader asks (about BATCH_BYTES at most), then
     * waiting for more. Ends with the `finish` event of its segment, at the end of the log, or when the signal aborts.
     */
    async * read (position: number, signal: AbortSignal): AsyncGenerator<readonly RunEvent[]> {
      signal.addEventListener('abort', wake)
      try {
        while (!signal.aborted) {
          if (position === events.length) {
            if (ended) return
            await new Promise<void>((resolve) => waiting.add(resolve))
            // One batch a turn of the event loop, however many events the turn brings.
            await new Promise(setImmediate)
            continue
          }
          const batch = batchAt(position)
          position += batch.length
          yield batch
          if (batch.at(-1)!.type === 'finish') return
        }
      } finally {
        signal.removeEventListener('abort', wake)
      }
    }
  }
}

/** The position of the `start` event of a segment, counted from 0; -1 when there is none. */
export function segmentStart (events: readonly RunEvent[], segment: number): number {
  let seen = -1
  return events.findIndex((event) => event.type === 'start' && ++seen === segment)
}
