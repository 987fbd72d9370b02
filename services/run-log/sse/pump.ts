import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'

/** Where a stream's text comes from. Ends when there is no more. */
export interface Source {
  chunks: AsyncGenerator<string | Buffer>
  /** Bytes that wait to be taken. */
  lag(): number
}

/** A comment line after so much silence keeps proxies and clients from giving up, milliseconds. */
const PING_MS = 15_000
/** A reader that takes nothing for so long is dropped, */
const STALL_MS = 30_000
/** and one that is behind by so much after so long: where the service is what is slow, it took what it was given. */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** So few readers take no turns of their own: what they do for a piece is little beside what its model's call did, in its turn. */
const FEW = 64

/** Streams that are being read. */
let readers = 0

/**
 * Copies a source to a socket as Server-Sent Events until it ends: one write for whatever there is, never more than
 * the reader takes. Resolves to whether the reader got everything; a stalled one is dropped.
 */
export async function pump (
  { chunks, lag }: Source,
  out: Writable,
  { clock, signal }: { clock: Clock, signal: AbortSignal }
): Promise<boolean> {
  let wroteAt = clock.monotonic()
  const done = new AbortController()
  const over = AbortSignal.any([signal, done.signal])
  const gone = () => signal.aborted || out.destroyed
  ping().catch(() => {})
  readers++

  try {
    for await (const chunk of chunks) {
      if (gone()) return false
      wroteAt = clock.monotonic()
      if (!out.write(chunk) && !(await drained())) {
        out.destroy()
        return false
      }
      const over = readers > FEW ? yieldToEventLoop() : undefined
      if (over) await over
    }
    return !gone()
  } finally {
    readers--
    done.abort()
  }

  async function ping () {
    for (let wait = PING_MS; ;) {
      await clock.sleep(wait, over)
      const quiet = clock.monotonic() - wroteAt
      wait = quiet < PING_MS ? PING_MS - quiet : PING_MS
      if (quiet < PING_MS || out.writableNeedDrain) continue
      out.write(': ping\n\n')
      wroteAt = clock.monotonic()
    }
  }

  /** Whether the reader took what was written, in time. */
  async function drained (): Promise<boolean> {
    const settled = new AbortController()
    const either = AbortSignal.any([over, settled.signal])
    const stalled = (async () => {
      const deadline = clock.awake() + STALL_MS
      do await clock.timeout(LAG_MS, either)
      while (clock.awake() < deadline && lag() <= MAX_LAG)
      return false
    })().catch(() => false)
    try {
      return await Promise.race([once(out, 'drain', { signal: either }).then(() => true, () => false), stalled])
    } finally {
      settled.abort()
    }
  }
}
