import fp from 'fastify-plugin'
import { letYoungGenerationGrow } from '../../services/process/young-generation.ts'

/** Gives the first run, and all that follows, the memory that streams need; `bin/load-service.ts` has limited it. */
export default fp(async (app) => {
  const unsubscribe = app.events.onEvent(({ type }) => {
    if (type !== 'run:start') return
    letYoungGenerationGrow()
    unsubscribe()
  })
}, { name: 'young-generation', dependencies: ['events'] })
