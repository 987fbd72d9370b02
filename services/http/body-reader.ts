import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BodyCutOff } from './json-body.ts'

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
