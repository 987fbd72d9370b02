import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'
import { BodyCutOff, BodyTooLarge } from './body.ts'
import { createBodyBudget, type BodyShare } from './body-budget.ts'
import { createGrowingBuffer } from './growing-buffer.ts'

/** Bytes of a refused body that are read and dropped before its answer. */
const MOST_DROPPED = 16 * 1024 * 1024
/** Bodies that are dropped at once; the next ones are answered before their rest is read. */
const DROPPED_AT_ONCE = 128
/** A client that sends nothing of a refused body for so long is answered without the rest: it may be waiting for the answer. */
const IDLE_MS = 2_000
/** A connection that ends in the middle of a body is read so long after the answer, then closed. */
const LINGER_MS = 5_000

export type Uploads = ReturnType<typeof createUploads>

/**
 * Receives request bodies, and sees to it that a client that is refused in the middle of one gets its answer. Closing a
 * connection with unread bytes resets it, and many clients then fail before they read the answer (RFC 9112, 9.6). So the
 * rest of a refused body is read and dropped first; where that is too much, the answer goes out at once and the
 * connection is closed in two steps: our side ends, and what still comes is dropped for a while.
 */
export function createUploads ({ clock }: { clock: Clock }) {
  const budget = createBodyBudget()
  const shares = new WeakMap<IncomingMessage, BodyShare>()
  /** Responses to clients that wait for 100 Continue before they send. */
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()
  /** Interrupts the one body that is being read from a connection. */
  const readers = new Map<Socket, (error: Error) => void>()
  /** Connections on which a body cannot be read to its end. */
  const broken = new WeakSet<Socket>()
  const closing = new WeakSet<Socket>()
  let dropping = 0

  /** Hands over each chunk until the body ends. Rejects with what `take` throws, with BodyCutOff (400), or with what interrupts it. */
  function read (request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
    const { socket } = request
    waiting.get(request)?.writeContinue()
    waiting.delete(request)
    return new Promise((resolve, reject) => {
      const onEnd = () => settle(resolve)
      const onClose = () => settle(() => reject(new BodyCutOff()))
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
      const settle = (how: () => void) => {
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
        // The next request of the connection may have begun already.
        if (readers.get(socket) === interrupt) readers.delete(socket)
        how()
      }
      if (request.readableEnded) return resolve()
      if (request.destroyed) return reject(new BodyCutOff())
      readers.set(socket, interrupt)
      request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose).resume()
    })
  }

  /** Reads and drops the rest of a body; resolves to whether it got to the end. */
  async function drop (request: IncomingMessage): Promise<boolean> {
    let bytes = 0
    const over = new AbortController()
    const giveUp = async () => {
      for (let before = -1; before !== bytes;) {
        before = bytes
        await clock.sleep(IDLE_MS, over.signal)
      }
      readers.get(request.socket)?.(new BodyCutOff())
    }
    giveUp().catch(() => {})
    dropping++
    try {
      await read(request, ({ length }) => { if ((bytes += length) > MOST_DROPPED) throw new BodyTooLarge(MOST_DROPPED) })
      return true
    } catch {
      return false
    } finally {
      dropping--
      over.abort()
    }
  }

  /** Whether the rest of a body is worth waiting for before its answer. */
  const isDroppable = (request: IncomingMessage) => !broken.has(request.socket) && !waiting.has(request) && dropping < DROPPED_AT_ONCE &&
    (request.readableDidRead || (lengthOf(request) ?? 0) <= MOST_DROPPED)

  /** Ends our side of a connection and drops what still comes, for a while: a reset would overtake the answer. */
  function linger (socket: Socket) {
    if (closing.has(socket)) return
    closing.add(socket)
    socket.end()
    const gone = new AbortController()
    socket.once('close', () => gone.abort())
    clock.sleep(LINGER_MS, gone.signal).then(() => socket.destroy(), () => {})
  }

  return {
    /** A client waits for 100 Continue: it gets that when its body is read, and an answer instead when it is refused. */
    expectContinue (request: IncomingMessage, response: ServerResponse) {
      waiting.set(request, response)
    },

    /** The whole body, of which `release` must be called. Throws BodyTooLarge (413), TooManyBodies (503) or BodyCutOff (400). */
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

    /** The body is handled, or nobody will: its bytes no longer count. */
    release (request: IncomingMessage) {
      shares.get(request)?.release()
    },

    /** Whether there is no byte in the body; reads no further than the first. */
    async isEmpty (request: IncomingMessage): Promise<boolean> {
      if (lengthOf(request)) return false
      const some = new Error('not empty')
      return read(request, () => { throw some }).then(() => true, (error) => {
        if (error !== some) throw error
        return false
      })
    },

    /** The route reads the body itself. */
    stream (request: IncomingMessage) {
      waiting.get(request)?.writeContinue()
      waiting.delete(request)
    },

    /**
     * To be awaited before the head of an answer is written: the body is then read to its end, or the connection closes
     * after the answer. Undefined when there is nothing to wait for.
     */
    settle (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
      if (!hasBody(request) || request.complete || request.readableEnded || request.destroyed) return
      const closeAfterwards = () => {
        response.setHeader('connection', 'close')
        // What Node calls after the last answer of a connection; its own would reset the connection.
        request.socket.destroySoon = () => {
          request.resume()
          linger(request.socket)
        }
      }
      if (!isDroppable(request)) return Promise.resolve(closeAfterwards())
      return drop(request).then((whole) => { if (!whole) closeAfterwards() })
    },

    /** Node found the rest of a body to be malformed or late. Whether somebody reads that body, and answers with the error. */
    interrupt (socket: Socket, error: Error): boolean {
      const reader = readers.get(socket)
      if (reader === undefined) return false
      broken.add(socket)
      reader(error)
      return true
    },

    linger,

    /** Whether our side of a connection has ended: further requests on it could not be answered. */
    isClosing: (socket: Socket): boolean => closing.has(socket)
  }
}

/** The length a request says its body has. */
function lengthOf ({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

const hasBody = (request: IncomingMessage) => request.headers['transfer-encoding'] !== undefined || (lengthOf(request) ?? 0) > 0
