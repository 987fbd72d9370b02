import fp from 'fastify-plugin'
import { createRetention } from '../../services/store/retention/retention.ts'

/** Removes old records in the background, from one minute after the start. */
export default fp(async (app) => {
  const { store, clock, log, threads: { prune }, usage, undo, runs } = app
  const retention = createRetention({ store, clock, log, prune, owners: [usage, undo, runs] })
  const stop = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', async () => {
    running = app.clock.sleep(60_000, stop.signal).then(() => retention.run(stop.signal), () => {})
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
  })
}, { name: 'retention', dependencies: ['store', 'clock', 'threads', 'usage', 'undo', 'runs'] })
