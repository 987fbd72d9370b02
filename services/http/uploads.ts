import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock.ts'
import { BodyTooLarge } from './json-body.ts'
import { createBodyBudget, type BodyShare } from './body-budget.ts'
import { createBodyReader } from './body-reader.ts'
import { createGrowingBuffer } from './growing-buffer.ts'
import { createLingering } from './lingering-close.ts'

/** Bytes of a refused body that are read and dropped before its answer. */
const MOST_DROPPED = 16 * 1024 * 1024
/** Bodies that are dropped at once; the next ones are answered before their rest is read. */
const DROPPED_AT_ONCE = 128
/** A client that sends nothing of a refused body for so long may be waiting for the answer: it gets it then. */
const IDLE_MS = 2_000

export type Uploads = ReturnType<typeof createUploads>

/**
 * Receives request bodies, and sees to it that a client that is refused in the middle of one gets its answer: many
 * read nothing before all is sent, and fail when the connection is reset meanwhile. So the rest of a body is dropped
 * before the answer. Where it is too long or does not come, the answer goes out at once and the connection lingers.
 */
export function createUploads ({ clock }: { clock: Clock }) {
  const budget = createBodyBudget()
  const shares = new WeakMap<IncomingMessage, BodyShare>()
  const settled = new WeakMap<IncomingMessage, Promise<void>>()
  const { read, proceed, canRead, stop, fail, expectContinue } = createBodyReader()
  const { close, isClosing, closeAfterAnswer } = createLingering(clock)
  let dropping = 0

  /** Reads and drops the rest of a body; resolves to whether it got to the end. */
  async function drop (request: IncomingMessage): Promise<boolean> {
    let bytes = 0
    const over = new AbortController()
    const watch = async () => {
      for (let before = -1; before !== bytes;) {
        before = bytes
        await clock.sleep(IDLE_MS, over.signal)
      }
      stop(request.socket)
    }
    watch().catch(() => {})
    dropping++
    try {
      await read(request, ({ length }) => {
        if ((bytes += length) > MOST_DROPPED) throw new BodyTooLarge(MOST_DROPPED)
      })
      return true
    } catch {
      return false
    } finally {
      dropping--
      over.abort()
    }
  }

  /** Whether the rest of a body is worth waiting for, were none of it read so far. */
  const isDroppable = (request: IncomingMessage) =>
    canRead(request) && dropping < DROPPED_AT_ONCE && (lengthOf(request) ?? 0) <= MOST_DROPPED

  async function settleRest (request: IncomingMessage, response: ServerResponse) {
    if (isDroppable(request) && await drop(request)) return
    response.setHeader('connection', 'close')
    closeAfterAnswer(request.socket, () => request.resume())
  }

  return {
    expectContinue,

    /** The whole body, which counts until `release`. Throws BodyTooLarge (413), TooManyBodies (503) or BodyCutOff (400). */
    async receive (request: IncomingMessage, limit: number): Promise<Buffer> {
      const length = lengthOf(request)
      if (length !== undefined && length > limit) throw new BodyTooLarge(limit)
      const share = budget.share()
      shares.set(request, share)
      try {
        share.take(length ?? 0)
        const body = createGrowingBuffer(length)
        await read(request, (chunk) => {
          if (body.length + chunk.length > limit) throw new BodyTooLarge(limit)
          if (length === undefined) share.take(chunk.length)
          body.push(chunk)
        })
        return body.bytes()
      } catch (error) {
        share.release()
        throw error
      }
    },

    /** The body was handled, or will not be: its bytes no longer count. */
    release (request: IncomingMessage) {
      shares.get(request)?.release()
    },

    /** Whether there is no byte in the body; reads no further than the first. */
    async isEmpty (request: IncomingMessage): Promise<boolean> {
      if (lengthOf(request)) return false
      const some = new Error('not empty')
      return read(request, () => {
        throw some
      }).then(() => true, (error) => {
        if (error !== some) throw error
        return false
      })
    },

    /** The body, for a route that reads it as it comes. It does not count. */
    stream (request: IncomingMessage): IncomingMessage {
      proceed(request)
      return request
    },

    /**
     * Gets the rest of a body out of the way, or has the connection closed after the answer. To be awaited before the
     * head of an answer is written; undefined when there is nothing to wait for.
     */
    settle (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
      if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return
      const settling = settled.get(request) ?? settleRest(request, response)
      settled.set(request, settling)
      return settling
    },

    /** Ends the read of a body that Node found to be malformed or late, and with it its request. Whether there was one. */
    fail,

    /** Closes a connection so that what was written to it arrives. */
    close,

    isClosing
  }
}

/** The length a request says its body has. */
function lengthOf ({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

const hasBody = (request: IncomingMessage) => request.headers['transfer-encoding'] !== undefined || (lengthOf(request) ?? 0) > 0
