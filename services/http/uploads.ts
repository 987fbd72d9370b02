import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { defineError } from '../lib/service-error.ts'
import { BodyCutOff, BodyTooLarge } from './json-body.ts'

const INITIAL_BYTES = 64 * 1024

/**
 * Creates a buffer that collects pieces and doubles its size when it is full. A list of pieces would need a
 * hundred times the memory if a body arrives in chunks of one byte.
 */
function createGrowingBuffer (expected = INITIAL_BYTES) {
  let buffer = Buffer.allocUnsafeSlow(expected)
  let used = 0

  return {
    get length (): number {
      return used
    },

    push (piece: Uint8Array) {
      if (used + piece.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + piece.length))
        buffer.copy(larger, 0, 0, used)
        buffer = larger
      }
      buffer.set(piece, used)
      used += piece.length
    },

    bytes: (): Buffer => buffer.subarray(0, used)
  }
}

const MIB = 1024 * 1024
/** Maximum bytes of all JSON bodies that are received but not yet handled, over all connections. */
const BUDGET = 64 * MIB
/** Most bodies of local clients have been handled within this time, milliseconds. */
const RETRY_MS = 1_000

const TooManyBodies = defineError(
  'ERR_TOO_MANY_BODIES',
  'The service is already receiving request bodies of %d MiB in total; send this one again in a second.'
)

/** The part of the budget that one body uses. */
interface BodyShare {
  /** Reserves bytes. Throws TooManyBodies (503) if all bodies together would exceed the budget. */
  reserve(bytes: number): void
  /** Gives all reserved bytes back. May be called more than once. */
  release(): void
}

/** Creates a budget that bounds the memory of all request bodies together, over all connections. */
function createBodyBudget () {
  let used = 0

  return {
    share (): BodyShare {
      let reserved = 0
      return {
        reserve (bytes) {
          if (used + bytes > BUDGET) throw Object.assign(new TooManyBodies(BUDGET / MIB), { retryAfterMs: RETRY_MS })
          used += bytes
          reserved += bytes
        },
        release () {
          used -= reserved
          reserved = 0
        }
      }
    }
  }
}

/** Creates the reader of request bodies. It reads one body at a time from each connection. */
function createBodyReader () {
  /** Responses to clients that wait for `100 Continue` before they send the body. */
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()
  const interrupts = new Map<Socket, (error: Error) => void>()
  /** Connections whose body cannot be read to its end. */
  const broken = new WeakSet<Socket>()

  /** Sends `100 Continue` to a client that waits for it. */
  function proceed (request: IncomingMessage) {
    waiting.get(request)?.writeContinue()
    waiting.delete(request)
  }

  return {
    proceed,

    /**
     * Registers a client that waits for `100 Continue`. `100 Continue` is sent when the body is read; a refused
     * request gets its response instead.
     */
    expectContinue (request: IncomingMessage, response: ServerResponse) {
      waiting.set(request, response)
    },

    /** False if the body is known not to be readable to its end: the client waits for `100 Continue`, or the connection is broken. */
    canRead: (request: IncomingMessage): boolean => !waiting.has(request) && !broken.has(request.socket),

    /**
     * Passes each chunk to `take` until the body ends. Rejects with an error that `take` throws, with BodyCutOff
     * (400), or with the error given to `fail`.
     */
    read (request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
      const { socket } = request
      proceed(request)
      return new Promise((resolve, reject) => {
        const settle = (resolveOrReject: () => void) => {
          request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
          // The next request on this connection might already have started its read.
          if (interrupts.get(socket) === interrupt) interrupts.delete(socket)
          resolveOrReject()
        }
        const interrupt = (error: Error) => {
          request.pause()
          settle(() => reject(error))
        }
        const onData = (chunk: Buffer) => {
          try {
            take(chunk)
          } catch (error) {
            interrupt(error as Error)
          }
        }
        const onEnd = () => settle(resolve)
        const onClose = () => settle(() => reject(new BodyCutOff()))
        if (request.readableEnded) return resolve()
        if (request.destroyed) return reject(new BodyCutOff())
        interrupts.set(socket, interrupt)
        request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose).resume()
      })
    },

    /** Ends the active read of a connection, if there is one, with BodyCutOff. */
    stop (socket: Socket) {
      interrupts.get(socket)?.(new BodyCutOff())
    },

    /**
     * Ends the active read of a connection with an error, when Node reports a malformed or late body. Returns false if there was no read.
     */
    fail (socket: Socket, error: Error): boolean {
      const interrupt = interrupts.get(socket)
      if (interrupt === undefined) return false
      broken.add(socket)
      interrupt(error)
      return true
    }
  }
}

/** How long a client may take to read its response and to notice that it should stop sending. */
const LINGER_MS = 5_000

/**
 * Creates the function that closes connections on which a client might still be sending. Closing a socket with
 * unread bytes resets the connection, and the reset can overtake the response (RFC 9112, 9.6). The service
 * therefore ends its own side first, and then reads and drops incoming data for a while.
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

    /** Whether the service has ended its side of a connection, so that no further request on this connection can be answered. */
    isClosing: (socket: Socket): boolean => closing.has(socket),

    /** Makes `close` follow the response that is being sent. `whenSent` is called before. */
    closeAfterAnswer (socket: Socket, whenSent: () => void) {
      // Node calls destroySoon after the last response of a connection.
      socket.destroySoon = () => {
        whenSent()
        close(socket)
      }
    }
  }
}

/** Maximum bytes of a refused body that are read and dropped before the response is sent. */
const MAX_DROPPED_BYTES = 16 * 1024 * 1024
/** Maximum number of bodies dropped at the same time; further refusals are answered before the rest of the body is read. */
const MAX_DROPPING = 128
/** If a client sends nothing of a refused body for this many milliseconds, it might be waiting for the response, which is then sent. */
const IDLE_MS = 2_000

export type Uploads = ReturnType<typeof createUploads>

/**
 * Creates the service that receives request bodies, and that delivers the response to a client whose request is
 * refused while it still sends the body. Many clients read nothing before they have sent everything, and fail if
 * the connection is reset. The rest of the body is therefore dropped before the response. If the rest is too
 * long or does not arrive, the response is sent at once and the connection is closed slowly (`createLingering`).
 */
export function createUploads ({ clock }: { clock: Clock }) {
  const budget = createBodyBudget()
  const shares = new WeakMap<IncomingMessage, BodyShare>()
  const settled = new WeakMap<IncomingMessage, Promise<void>>()
  const { read, proceed, canRead, stop, fail, expectContinue } = createBodyReader()
  const { close, isClosing, closeAfterAnswer } = createLingering(clock)
  let dropping = 0

  /**
   * Reads and drops the rest of a body. Resolves to true at the end of the body, and to false if the body is longer than MAX_DROPPED_BYTES,
   * the client stopped sending, or the connection broke.
   */
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

    /** Releases the budget of a body that was handled, or that will not be handled. */
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
     * Drops the rest of a body, or makes the connection close after the response. Await it before the head of a
     * response is written. Returns undefined if there is nothing to wait for.
     */
    settle (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
      if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return
      const settling = settled.get(request) ?? settleRest(request, response)
      settled.set(request, settling)
      return settling
    },

    /** Ends the read of a body that Node reported as malformed or late, and thereby its request. Returns false if there was no read. */
    fail,

    /** Closes a connection after the data written to it has been delivered. */
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
