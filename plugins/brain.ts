import fp from 'fastify-plugin'
import { createBrain, emptyMemory, type BrainService } from '../services/brain/brain.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    brain: BrainService
  }
}

/** The brain: what the service remembers of its user. */
export default fp(async (app) => {
  app.decorate('brain', createBrain({ record: app.store.record(RECORDS.brain, emptyMemory), now: app.clock.now, digest: app.store.digest }))
}, { name: 'brain', dependencies: ['clock', 'store'] })
