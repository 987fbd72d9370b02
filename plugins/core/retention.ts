import fp from 'fastify-plugin'
import { createRetention } from '../../services/retention/retention.ts'

/** Removes old records in the background, from one minute after the start. */
export default fp(async (app) => {
  const retention = createRetention({ store: app.store, clock: app.clock, log: app.log, prune: app.catalog.prune, journal: app.journal })
  const stop = new AbortController()
  let running: Promise<void> | undefined
  app.addHook('onListen', async () => {
    running = app.clock.sleep(60_000, stop.signal).then(() => retention.run(stop.signal), () => {})
  })
  app.addHook('preClose', async () => {
    stop.abort()
    await running
  })
}, { name: 'retention', dependencies: ['store', 'clock', 'catalog', 'journal'] })
