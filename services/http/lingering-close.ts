import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'

/** How long a client may take to read its response and to notice that it should stop sending. */
const LINGER_MS = 5_000

/**
 * Closes connections on which a client may still be sending. Closing a socket with unread bytes resets it, and the reset may
 * overtake the response (RFC 9112, 9.6). The service therefore ends its side first, and reads and drops incoming data for a
 * while.
 */
export function createLingering (clock: Clock) {
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
