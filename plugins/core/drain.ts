import fp from 'fastify-plugin'
import { settlesWithin } from '../../services/lib/deadline.ts'

/** Time for delivering open responses during the shutdown, in milliseconds. Slower readers lose the rest of their response. */
const READ_MS = 1_000

/**
 * Waits until open responses have reached their readers, before the connections are closed. This plugin is registered last: by then all
 * runs have been stopped and have written their end to their streams.
 */
export default fp(async (app) => {
  const open = new Set<Promise<void>>()
  app.addHook('onRequest', async (_request, { raw }) => {
    const delivered = new Promise<void>((resolve) => raw.once('close', resolve))
    open.add(delivered)
    void delivered.then(() => open.delete(delivered))
  })
  app.addHook('preClose', async () => {
    await settlesWithin({ clock: app.clock, ms: app.shutdown.readersMs(READ_MS) }, Promise.all(open))
  })
}, { name: 'drain', dependencies: ['clock', 'gate', 'shutdown', 'agent'] })
