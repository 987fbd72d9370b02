import fp from 'fastify-plugin'
import { keepYoungGeneration, letYoungGenerationGrow } from '../../services/process/young-generation.ts'

/** Limits the memory of an idle service; the first run, and all that follows, get what streams need. */
export default fp(async (app) => {
  app.addHook('onListen', keepYoungGeneration)
  const unsubscribe = app.events.onEvent(({ type }) => {
    if (type !== 'run:start') return
    letYoungGenerationGrow()
    unsubscribe()
  })
}, { name: 'young-generation', dependencies: ['events'] })
