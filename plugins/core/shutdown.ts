import fp from 'fastify-plugin'
import { createShutdown, type Shutdown } from '../../services/process/shutdown.ts'

declare module 'fastify' {
  interface FastifyInstance {
    shutdown: Shutdown
  }
}

/** Begins the shutdown of all slow parts at once. Registered before these parts and after the gate, which refuses new work first. */
export default fp(async (app) => {
  const shutdown = createShutdown({ clock: app.clock, log: app.log })
  app.decorate('shutdown', shutdown)
  app.addHook('preClose', async () => shutdown.begin())
}, { name: 'shutdown', dependencies: ['clock', 'gate'] })
