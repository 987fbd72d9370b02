import fp from 'fastify-plugin'
import { createBrain, emptyMemory, type BrainService } from '../services/brain/brain.ts'
import { createToldMemory, type ToldMemory } from '../services/brain/recall/told-memory.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    brain: BrainService
    /** What models are told of the brain. */
    toldMemory: ToldMemory
  }
}

/** The brain: what the service remembers of its user. */
export default fp(async (app) => {
  const { store, clock } = app
  const brain = createBrain({ record: store.record(RECORDS.brain, emptyMemory), now: clock.now, digest: store.digest })
  app.decorate('brain', brain)
  const toldMemory = createToldMemory({ load: brain.whole, store })
  app.decorate('toldMemory', toldMemory)
  app.addHook('onListen', () => {
    toldMemory.prepare().catch((error) => app.log.warn({ err: error }, 'the memory could not be read for its index'))
  })
}, { name: 'brain', dependencies: ['clock', 'store'] })
