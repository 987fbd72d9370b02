import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { PING_MS } from '../../lib/event-stream.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'

/** The source of a stream's text. */
interface Source<T> {
  batches: AsyncIterable<T>
  /** Returns the text of a batch; '' if the batch is not sent. */
  render(batch: T): string | Buffer
  /** The text after the last batch. */
  end: string
  /** The number of bytes that the reader has not received yet. */
  lag(): number
}

/** A reader that receives nothing for this many milliseconds is dropped. */
const STALL_MS = 30_000
/**
 * A reader that has not drained its socket for LAG_MS milliseconds and lags by more than MAX_LAG bytes is dropped. If not the reader but
 * the service is slow, the socket is drained and the reader stays.
 */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** With up to this many readers, `pump` does not yield between chunks, because their work is small compared to that of the model call. */
const FEW = 64

/** The number of active streams. */
let readers = 0

/**
 * Writes a source to a socket as Server-Sent Events (SSE) until the source ends, with one write for each batch, and waits whenever the
 * socket is full. Resolves to true if the reader got everything. A stalled reader is dropped.
 */
export async function pump<T> (
  { batches, render, end, lag }: Source<T>,
  out: Writable,
  { clock, signal }: { clock: Clock, signal: AbortSignal }
): Promise<boolean> {
  let wroteAt = clock.monotonic()
  const done = new AbortController()
  const ended = AbortSignal.any([signal, done.signal])
  const writer = createWriter(out)
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
    // Without a reason, Node.js would create an exception with a stack trace.
    done.abort('done')
  }

  function write (text: string | Buffer): boolean {
    wroteAt = clock.monotonic()
    return writer.write(text)
  }

  async function ping () {
    for (let wait = PING_MS; ;) {
      await clock.sleep(wait, ended)
      const quiet = clock.monotonic() - wroteAt
      wait = quiet < PING_MS ? PING_MS - quiet : PING_MS
      if (quiet < PING_MS || writer.full() !== undefined) continue
      write(': ping\n\n')
    }
  }

  /** Resolves to true if the reader took the written data in time; to false if the reader is too slow or gone. */
  async function drained (): Promise<boolean> {
    const settled = new AbortController()
    const drain = once(writer.full() ?? out, 'drain', { signal: AbortSignal.any([ended, settled.signal]) })
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

/**
 * Returns a writer for a response. Node.js writes the headers and the first text; further texts are written as chunks directly to the
 * socket.
 */
function createWriter (out: Writable) {
  let socket: Socket | undefined
  return {
    write (text: string | Buffer): boolean {
      if (socket !== undefined && typeof text === 'string') return writeChunk(socket, text)
      const isTaken = out.write(text)
      socket ??= socketOf(out)
      return isTaken
    },
    /** Returns the stream whose buffer is full, which emits `drain` when it takes more; undefined if none is full. */
    full: (): Writable | undefined => out.writableNeedDrain ? out : socket?.writableNeedDrain === true ? socket : undefined
  }
}

/**
 * Returns the socket to which the chunks of a response can be written directly; undefined if the body does not use chunked transfer coding.
 */
function socketOf (out: Writable): Socket | undefined {
  const { chunkedEncoding, socket } = out as Writable & Partial<ServerResponse>
  return chunkedEncoding === true && socket instanceof Socket ? socket : undefined
}

/**
 * Writes a chunk of a response (RFC 9112, 7.1) with one write. Node's response would write the length, the line breaks and the text
 * separately.
 */
const writeChunk = (socket: Socket, text: string): boolean =>
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
