import type { FastifyInstance } from 'fastify'

/**
 * Starts the work `delayMs` milliseconds after the service listens. When the service closes, the signal aborts, and closing waits for the
 * work to end.
 */
export function runInBackground (app: FastifyInstance, delayMs: number, work: (signal: AbortSignal) => Promise<unknown>): void {
  const stop = new AbortController()
  let running: Promise<unknown> | undefined
  app.addHook('onListen', async () => {
    running = app.clock.sleep(delayMs, stop.signal).then(() => work(stop.signal), () => {})
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
  })
}
