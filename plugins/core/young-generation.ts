import fp from 'fastify-plugin'
import { letYoungGenerationGrow } from '../../services/process/young-generation.ts'

/** Gives runs the memory that streams need. `bin/load-service.ts` limits it at the start, and again when it has stored code. */
export default fp(async (app) => {
  app.events.onEvent(({ type }) => {
    if (type === 'run:start') letYoungGenerationGrow()
  })
}, { name: 'young-generation', dependencies: ['events'] })
