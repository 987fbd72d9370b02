import fp from 'fastify-plugin'
import type { StreamEvent } from '../schemas/events.ts'
import type { BrainChange } from '../services/brain/memory.ts'
import { createBrain, type BrainService } from '../services/brain/brain.ts'
import { emptyMemory, memoryIds } from '../services/brain/memory.ts'
import { createToldMemory, type ToldMemory } from '../services/brain/recall/told-memory.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    brain: BrainService
    /** Chooses the entries of the memory that models are told of. */
    toldMemory: ToldMemory
  }
}

/** Returns the event about a change of the memory. The event names a conversation if all new entries come from that one conversation. */
function memoryEvent ({ learned, proposed, forgotten }: BrainChange, at: number): StreamEvent {
  const threads = new Set([...learned, ...proposed].map(({ source }) => source?.threadId))
  const [threadId] = threads.size === 1 ? threads : []
  return {
    type: 'memory:changed',
    learned: learned.map(({ id, kind, fact }) => ({ id, kind, fact })),
    proposed: proposed.length,
    forgotten,
    ...(threadId !== undefined && { threadId }),
    at
  }
}

/** The brain: what the service remembers of its user. */
export default fp(async (app) => {
  const { store, clock } = app
  const brain = createBrain({
    record: store.record(RECORDS.brain, emptyMemory, memoryIds(store.digest)),
    now: clock.now,
    digest: store.digest,
    // The plugin of the events is registered after this one, so `app.events` is read only when the memory changes.
    onChange: (change) => app.events.emit(memoryEvent(change, clock.now()))
  })
  app.decorate('brain', brain)
  const toldMemory = createToldMemory({ load: brain.whole, store })
  app.decorate('toldMemory', toldMemory)
  app.addHook('onListen', () => {
    toldMemory.prepare().catch((error) => app.log.warn({ err: error }, 'the memory could not be read for its index'))
  })
}, { name: 'brain', dependencies: ['clock', 'store'] })
