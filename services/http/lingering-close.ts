import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'

/** A client has so long to read its answer, and to notice that it should send no more. */
const LINGER_MS = 5_000

/**
 * Closes connections on which a client may still be sending. To close a socket with unread bytes resets it, and the reset
 * may overtake the answer (RFC 9112, 9.6): our side ends first, and what still comes is read and dropped for a while.
 */
export function createLingering (clock: Clock) {
  const closing = new WeakSet<Socket>()

  function close (socket: Socket) {
    if (closing.has(socket)) return
    closing.add(socket)
    socket.end()
    const gone = new AbortController()
    socket.once('close', () => gone.abort())
    clock.sleep(LINGER_MS, gone.signal).then(() => socket.destroy(), () => {})
  }

  return {
    close,

    /** Whether our side of a connection has ended: no further request on it can be answered. */
    isClosing: (socket: Socket): boolean => closing.has(socket),

    /** Has Node close the connection in this way after the answer that it is to send. */
    closeAfterAnswer (socket: Socket, whenSent: () => void) {
      // Node calls this after the last answer of a connection.
      socket.destroySoon = () => {
        whenSent()
        close(socket)
      }
    }
  }
}
