import type { FromTab, ToTab } from './messages.ts'

/** A way of this page to the worker that all tabs share. */
export interface WorkerPort {
  send: (message: FromTab) => void
  close: () => void
}

/**
 * Opens a way to the worker; undefined where the browser has no shared workers. A page that the browser keeps for the back button gets no
 * messages, and a worker learns of a closed tab only by its message: `onShow` is called when such a page is shown again.
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
