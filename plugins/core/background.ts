import type { FastifyInstance } from 'fastify'

/** Runs work from `delayMs` milliseconds after the service listens until it closes, which then waits for the end of the work. */
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
