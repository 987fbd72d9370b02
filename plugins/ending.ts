import fp from 'fastify-plugin'
import { createEnding, type Ending } from '../services/ending.ts'

declare module 'fastify' { interface FastifyInstance { ending: Ending } }

/** Lets everything that takes its time to end begin at once. Registered before all of that and after the gate, which refuses new work first. */
export default fp(async (app) => {
  const ending = createEnding({ clock: app.clock, log: app.log })
  app.decorate('ending', ending)
  app.addHook('preClose', async () => ending.begin())
}, { name: 'ending', dependencies: ['clock', 'gate'] })
