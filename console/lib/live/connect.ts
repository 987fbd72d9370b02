import { follow } from './follow.ts'
import type { ToTab } from './messages.ts'
import { openWorker } from './open-worker.ts'

/**
 * Follows the events of the service through the worker that all tabs share, with the token that it keeps; where the browser has no shared
 * workers, by a connection of this tab. Returns the function that ends this.
 */
export function connect (token: string | undefined, tell: (message: ToTab) => void): () => void {
  const begin = () => worker?.send({ type: 'follow' })
  const worker = openWorker(tell, { onHide: () => tell({ type: 'connection', isOpen: false }), onShow: begin })
  if (worker === undefined) {
    const ended = new AbortController()
    void follow(token, ended.signal, tell)
    return () => ended.abort()
  }
  begin()
  return worker.close
}
