import fp from 'fastify-plugin'
import { createYoungGeneration } from '../../services/process/young-generation.ts'

/**
 * Gives runs the memory that streams need. `bin/load-service.ts` limits V8's young generation at the start, and again after it has stored
 * compiled code.
 */
export default fp(async (app) => {
  const youngGeneration = createYoungGeneration()
  app.events.onEvent(({ type }) => {
    if (type === 'run:start') youngGeneration.grow()
  })
  app.addHook('onClose', async () => youngGeneration.close())
}, { name: 'young-generation', dependencies: ['events'] })
