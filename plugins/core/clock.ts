import fp from 'fastify-plugin'
import { systemClock, type Clock } from '../../services/lib/clock.ts'

declare module 'fastify' {
  interface FastifyInstance {
    clock: Clock
  }
}

export default fp<{ clock?: Clock }>(async (app, { clock = systemClock }) => {
  app.decorate('clock', clock)
}, { name: 'clock' })
