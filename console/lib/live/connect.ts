import { follow } from './follow.ts'
import type { FromTab, ToTab } from './messages.ts'

/**
 * Follows the events of the service through the worker that all tabs share; where the browser has no shared workers, by a
 * connection of this tab. Returns the function that ends this.
 */
export function connect (token: string | undefined, tell: (message: ToTab) => void): () => void {
  if (typeof SharedWorker === 'undefined') {
    const ended = new AbortController()
    void follow(token, ended.signal, tell)
    return () => ended.abort()
  }
  // Tabs with another token have a worker of their own.
  const { port } = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: `live ${token ?? ''}` })
  const send = (message: FromTab) => port.postMessage(message)
  const begin = () => send({ type: 'follow', token })
  const leave = () => send({ type: 'leave' })
  port.onmessage = ({ data }: MessageEvent<ToTab>) => tell(data)
  begin()
  // A page that the browser keeps for the back button gets no messages; a worker learns of a closed tab only by its message.
  const hide = () => {
    tell({ type: 'connection', isOpen: false })
    leave()
  }
  const show = ({ persisted }: PageTransitionEvent) => {
    if (persisted) begin()
  }
  addEventListener('pagehide', hide)
  addEventListener('pageshow', show)
  return () => {
    removeEventListener('pagehide', hide)
    removeEventListener('pageshow', show)
    leave()
    port.close()
  }
}
