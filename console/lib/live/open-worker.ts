import type { FromTab, ToTab } from './messages.ts'

/** The connection of this page to the worker that all tabs share. */
interface WorkerPort {
  send: (message: FromTab) => void
  close: () => void
}

/**
 * Connects to the shared worker; returns undefined in a browser without shared workers. The worker learns that a tab is gone only from its
 * message `leave`, which the tab sends when it is hidden. `onShow` is called when the browser shows such a page again from its back/forward
 * cache.
 */
export function openWorker (tell: (message: ToTab) => void, { onHide, onShow }: { onHide: () => void, onShow: () => void }) {
  if (typeof SharedWorker === 'undefined') return undefined
  const { port } = new SharedWorker(new URL('./live-worker.ts', import.meta.url), { type: 'module', name: 'live' })
  const send = (message: FromTab) => port.postMessage(message)
  port.onmessage = ({ data }: MessageEvent<ToTab>) => tell(data)
  const ended = new AbortController()
  const { signal } = ended
  addEventListener('pagehide', () => {
    onHide()
    send({ type: 'leave' })
  }, { signal })
  addEventListener('pageshow', ({ persisted }) => { if (persisted) onShow() }, { signal })
  return {
    send,
    close () {
      ended.abort()
      send({ type: 'leave' })
      port.close()
    }
  } satisfies WorkerPort
}
