import { follow } from './follow.ts'
import type { ToTab } from './messages.ts'
import { openWorker } from './open-worker.ts'

/**
 * Follows the events of the service through the worker that all tabs share, with the worker's token. In a browser without shared workers,
 * this tab opens its own connection. Returns the function that stops following.
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
