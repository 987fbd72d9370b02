import { defineError } from '../lib/service-error.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BodyCutOff } from './json-body.ts'

const INITIAL_BYTES = 64 * 1024

/**
 * Collects pieces in one buffer that doubles when it is full. A list of pieces would use a hundred times the memory when a
 * body arrives in chunks of one byte.
 */
export function createGrowingBuffer (expected = INITIAL_BYTES) {
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

const TooManyBodies = defineError(
  'ERR_TOO_MANY_BODIES',
  'The service is already receiving request bodies of %d MiB in total; send this one again in a second.'
)

/** The part of the budget that one body uses. */
export interface BodyShare {
  /** Reserves bytes. Throws TooManyBodies (503) when all bodies together would exceed the budget. */
  reserve(bytes: number): void
  /** Returns all reserved bytes. Can be called again. */
  release(): void
}

/** Creates a budget that bounds the memory of all request bodies together, over all connections. */
export function createBodyBudget (limit = BUDGET) {
  let used = 0

  return {
    share (): BodyShare {
      let reserved = 0
      return {
        reserve (bytes) {
          if (used + bytes > limit) throw new TooManyBodies(limit / MIB)
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

/** Reads request bodies as streams, one at a time from each connection. */
export function createBodyReader () {
  /** Responses to clients that wait for `100 Continue` before they send the body. */
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()
  const interrupts = new Map<Socket, (error: Error) => void>()
  /** Connections on which the body cannot be read to its end. */
  const broken = new WeakSet<Socket>()

  /** Sends `100 Continue` to a client that waits for it. */
  function proceed (request: IncomingMessage) {
    waiting.get(request)?.writeContinue()
    waiting.delete(request)
  }

  return {
    proceed,

    /** Registers a client that waits for `100 Continue`. It is sent when the body is read; a refused request gets its response instead. */
    expectContinue (request: IncomingMessage, response: ServerResponse) {
      waiting.set(request, response)
    },

    /** Whether the body can probably be read to its end. */
    canRead: (request: IncomingMessage): boolean => !waiting.has(request) && !broken.has(request.socket),

    /**
     * Passes each chunk to `take` until the body ends. Rejects with an error thrown by `take`, with BodyCutOff (400), or with
     * an interrupting error.
     */
    read (request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
      const { socket } = request
      proceed(request)
      return new Promise((resolve, reject) => {
        const settle = (resolveOrReject: () => void) => {
          request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
          // The next request of the connection may already be reading.
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

    /** Ends the active read of a connection, if any, with BodyCutOff. */
    stop (socket: Socket) {
      interrupts.get(socket)?.(new BodyCutOff())
    },

    /** Ends the active read of a connection with an error when Node reports a malformed or late body. Returns whether there was a read. */
    fail (socket: Socket, error: Error): boolean {
      const interrupt = interrupts.get(socket)
      if (interrupt === undefined) return false
      broken.add(socket)
      interrupt(error)
      return true
    }
  }
}
