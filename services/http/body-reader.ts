import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BodyCutOff } from './json-body.ts'

/** Reads request bodies as they come, one at a time from each connection. */
export function createBodyReader () {
  /** Responses to clients that wait for `100 Continue` before they send. */
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()
  const interrupts = new Map<Socket, (error: Error) => void>()
  /** Connections whose body cannot be read to its end. */
  const broken = new WeakSet<Socket>()

  /** Tells a client that waits for it to send its body. */
  function proceed (request: IncomingMessage) {
    waiting.get(request)?.writeContinue()
    waiting.delete(request)
  }

  return {
    proceed,

    /** The client waits for `100 Continue`: it gets that when its body is read, and an answer instead when it is refused. */
    expectContinue (request: IncomingMessage, response: ServerResponse) {
      waiting.set(request, response)
    },

    /** Whether a read would get to the end of the body, as far as is known. */
    canRead: (request: IncomingMessage): boolean => !waiting.has(request) && !broken.has(request.socket),

    /** Hands over each chunk until the body ends. Rejects with what `take` throws, with BodyCutOff (400), or with what interrupts it. */
    read (request: IncomingMessage, take: (chunk: Buffer) => void): Promise<void> {
      const { socket } = request
      proceed(request)
      return new Promise((resolve, reject) => {
        const settle = (how: () => void) => {
          request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
          // The next request of the connection may be read already.
          if (interrupts.get(socket) === interrupt) interrupts.delete(socket)
          how()
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

    /** Ends the read from a connection, if there is one, with BodyCutOff. */
    stop (socket: Socket) {
      interrupts.get(socket)?.(new BodyCutOff())
    },

    /** Node found a body to be malformed or late: ends its read with the error. Whether there was one. */
    fail (socket: Socket, error: Error): boolean {
      const interrupt = interrupts.get(socket)
      if (interrupt === undefined) return false
      broken.add(socket)
      interrupt(error)
      return true
    }
  }
}
