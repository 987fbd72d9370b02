import fp from 'fastify-plugin'
import { createShutdown, type Shutdown } from '../../services/process/shutdown.ts'

declare module 'fastify' {
  interface FastifyInstance {
    shutdown: Shutdown
  }
}

/**
 * Begins the shutdown of all slow parts at the same time. Registered before these parts, and after the gate, which is the first to refuse
 * new work.
 */
export default fp(async (app) => {
  const shutdown = createShutdown({ clock: app.clock, log: app.log })
  app.decorate('shutdown', shutdown)
  app.addHook('preClose', async () => shutdown.begin())
}, { name: 'shutdown', dependencies: ['clock', 'gate'] })
