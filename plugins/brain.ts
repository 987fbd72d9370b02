import fp from 'fastify-plugin'
import { createBrain, emptyBrain, type BrainService } from '../services/brain/brain.ts'

declare module 'fastify' { interface FastifyInstance { brain: BrainService } }

/** What is remembered of the user. */
export default fp(async (app) => {
  app.decorate('brain', createBrain({ record: app.store.record('brain', emptyBrain), now: app.clock.now }))
}, { name: 'brain', dependencies: ['clock', 'store'] })
