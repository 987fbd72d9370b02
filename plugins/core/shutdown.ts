import fp from 'fastify-plugin'
import { createShutdown, type Shutdown } from '../../services/process/shutdown.ts'

declare module 'fastify' {
  interface FastifyInstance {
    shutdown: Shutdown
  }
}

/** Lets everything that takes its time to end begin at once. Registered before all of that and after the gate, which refuses new work first. */
export default fp(async (app) => {
  const shutdown = createShutdown({ clock: app.clock, log: app.log })
  app.decorate('shutdown', shutdown)
  app.addHook('preClose', async () => shutdown.begin())
}, { name: 'shutdown', dependencies: ['clock', 'gate'] })
