import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyTooLarge } from './json-body.ts'
import { createBodyBudget, type BodyShare, createBodyReader, createGrowingBuffer } from './body-reader.ts'

/** How long a client may take to read its response and to notice that it should stop sending. */
const LINGER_MS = 5_000

/**
 * Closes connections on which a client may still be sending. Closing a socket with unread bytes resets it, and the reset may
 * overtake the response (RFC 9112, 9.6). The service therefore ends its side first, and reads and drops incoming data for a
 * while.
 */
function createLingering (clock: Clock) {
  const closing = new WeakSet<Socket>()

  function close (socket: Socket) {
    if (closing.has(socket)) return
    closing.add(socket)
    socket.end()
    const closed = new AbortController()
    socket.once('close', () => closed.abort())
    clock.sleep(LINGER_MS, closed.signal).then(() => socket.destroy(), () => {})
  }

  return {
    close,

    /** Whether the service has ended its side of a connection: no further request on it can be answered. */
    isClosing: (socket: Socket): boolean => closing.has(socket),

    /** Makes Node close the connection in this way after the response that is being sent. */
    closeAfterAnswer (socket: Socket, whenSent: () => void) {
      // Node calls destroySoon after the last response of a connection.
      socket.destroySoon = () => {
        whenSent()
        close(socket)
      }
    }
  }
}

/** Maximum bytes of a refused body that are read and dropped before its response. */
const MAX_DROPPED_BYTES = 16 * 1024 * 1024
/** Maximum number of bodies dropped at the same time; further refusals are answered before the rest of the body is read. */
const MAX_DROPPING = 128
/** When a client sends nothing of a refused body for this long, it may be waiting for the response and gets it. */
const IDLE_MS = 2_000

export type Uploads = ReturnType<typeof createUploads>

/**
 * Receives request bodies and delivers the response to a client whose request is refused while it sends the body. Many clients
 * read nothing before they have sent everything, and fail when the connection is reset. The rest of the body is therefore
 * dropped before the response. When it is too long or does not arrive, the response is sent at once and the connection
 * lingers.
 */
export function createUploads ({ clock }: { clock: Clock }) {
  const budget = createBodyBudget()
  const shares = new WeakMap<IncomingMessage, BodyShare>()
  const settled = new WeakMap<IncomingMessage, Promise<void>>()
  const { read, proceed, canRead, stop, fail, expectContinue } = createBodyReader()
  const { close, isClosing, closeAfterAnswer } = createLingering(clock)
  let dropping = 0

  /** Reads and drops the rest of a body. Resolves to whether it reached the end. */
  async function drop (request: IncomingMessage): Promise<boolean> {
    let bytes = 0
    const ended = new AbortController()
    const watch = async () => {
      for (let previousBytes = -1; previousBytes !== bytes;) {
        previousBytes = bytes
        await clock.sleep(IDLE_MS, ended.signal)
      }
      stop(request.socket)
    }
    watch().catch(() => {})
    dropping++
    try {
      await read(request, ({ length }) => {
        if ((bytes += length) > MAX_DROPPED_BYTES) throw new BodyTooLarge(MAX_DROPPED_BYTES)
      })
      return true
    } catch {
      return false
    } finally {
      dropping--
      ended.abort()
    }
  }

  /** Whether the rest of a body should be dropped before the response. */
  const isDroppable = (request: IncomingMessage) =>
    canRead(request) && dropping < MAX_DROPPING && (lengthOf(request) ?? 0) <= MAX_DROPPED_BYTES

  async function settleRest (request: IncomingMessage, response: ServerResponse) {
    if (isDroppable(request) && await drop(request)) return
    response.setHeader('connection', 'close')
    closeAfterAnswer(request.socket, () => request.resume())
  }

  return {
    expectContinue,

    /**
     * Receives the whole body, which counts against the budget until `release`. Throws BodyTooLarge (413), TooManyBodies (503)
     * or BodyCutOff (400).
     */
    async receive (request: IncomingMessage, limit: number): Promise<Buffer> {
      const length = lengthOf(request)
      if (length !== undefined && length > limit) throw new BodyTooLarge(limit)
      const share = budget.share()
      shares.set(request, share)
      try {
        share.reserve(length ?? 0)
        const body = createGrowingBuffer(length)
        await read(request, (chunk) => {
          if (body.length + chunk.length > limit) throw new BodyTooLarge(limit)
          if (length === undefined) share.reserve(chunk.length)
          body.push(chunk)
        })
        return body.bytes()
      } catch (error) {
        share.release()
        throw error
      }
    },

    /** Releases the budget of a body that was handled or will not be. */
    release (request: IncomingMessage) {
      shares.get(request)?.release()
    },

    /** Whether the body is empty; reads at most the first chunk. */
    async isEmpty (request: IncomingMessage): Promise<boolean> {
      if (lengthOf(request)) return false
      const notEmpty = new Error('not empty')
      return read(request, () => {
        throw notEmpty
      }).then(() => true, (error) => {
        if (error !== notEmpty) throw error
        return false
      })
    },

    /** Returns the body as a stream, outside the budget. */
    stream (request: IncomingMessage): IncomingMessage {
      proceed(request)
      return request
    },

    /**
     * Drops the rest of a body, or makes the connection close after the response. Await it before the head of a response is
     * written. Returns undefined when there is nothing to wait for.
     */
    settle (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
      if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return
      const settling = settled.get(request) ?? settleRest(request, response)
      settled.set(request, settling)
      return settling
    },

    /** Ends the read of a body that Node reported as malformed or late, and thereby its request. Returns whether there was a read. */
    fail,

    /** Closes a connection after delivering the data written to it. */
    close,

    isClosing
  }
}

/** Returns the declared length of a request's body. */
function lengthOf ({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

const hasBody = (request: IncomingMessage) => request.headers['transfer-encoding'] !== undefined || (lengthOf(request) ?? 0) > 0
