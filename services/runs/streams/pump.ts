import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'

/** The source of a stream's text. */
interface Source<T> {
  batches: AsyncIterable<T>
  /** Returns the text of a batch; '' for one that is not sent. */
  render(batch: T): string | Buffer
  /** The text after the last batch. */
  end: string
  /** Bytes that the reader has not taken yet. */
  lag(): number
}

/** A comment line is sent after this much silence, so that proxies and clients keep the connection open. Milliseconds. */
const PING_MS = 15_000
/** A reader that takes nothing for this long is dropped. Milliseconds. */
const STALL_MS = 30_000
/**
 * A reader that has not drained its socket for LAG_MS milliseconds and lags by more than MAX_LAG bytes is dropped. If the service
 * is slow, not the reader, the socket is drained and the reader stays.
 */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** Up to this many readers, `pump` does not yield between chunks: their work is small beside that of the model call. */
const FEW = 64

/** The number of active streams. */
let readers = 0

/**
 * Copies a source to a socket as Server-Sent Events until it ends, with one write for each batch, and waits whenever the socket
 * is full. Resolves to whether the reader got everything. A stalled reader is dropped.
 */
export async function pump<T> (
  { batches, render, end, lag }: Source<T>,
  out: Writable,
  { clock, signal }: { clock: Clock, signal: AbortSignal }
): Promise<boolean> {
  let wroteAt = clock.monotonic()
  const done = new AbortController()
  const ended = AbortSignal.any([signal, done.signal])
  const gone = () => signal.aborted || out.destroyed
  ping().catch(() => {})
  readers++

  try {
    for await (const batch of batches) {
      const text = render(batch)
      if (text === '') continue
      if (gone()) return false
      if (!write(text) && !(await drained())) {
        out.destroy()
        return false
      }
      const turn = readers > FEW ? yieldToEventLoop() : undefined
      if (turn) await turn
    }
    if (!gone() && end !== '') write(end)
    return !gone()
  } finally {
    readers--
    // Without a reason, Node would make an exception with a stack trace.
    done.abort('done')
  }

  function write (text: string | Buffer): boolean {
    wroteAt = clock.monotonic()
    return out.write(text)
  }

  async function ping () {
    for (let wait = PING_MS; ;) {
      await clock.sleep(wait, ended)
      const quiet = clock.monotonic() - wroteAt
      wait = quiet < PING_MS ? PING_MS - quiet : PING_MS
      if (quiet < PING_MS || out.writableNeedDrain) continue
      write(': ping\n\n')
    }
  }

  /** Resolves to whether the reader took the written data in time. */
  async function drained (): Promise<boolean> {
    const settled = new AbortController()
    const drain = once(out, 'drain', { signal: AbortSignal.any([ended, settled.signal]) })
    const deadline = clock.awake() + STALL_MS
    try {
      do {
        if (await settlesWithin({ clock, ms: LAG_MS, signal: ended }, drain)) return true
      } while (!ended.aborted && clock.awake() < deadline && lag() <= MAX_LAG)
      return false
    } catch {
      return false
    } finally {
      settled.abort('settled')
    }
  }
}
