import fp from 'fastify-plugin'
import { scrubEnvironment } from '../../services/process/scrub-environment.ts'
import { createChildEnvironment } from '../../services/process/child-environment.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The environment for a child: every process that is started gets it, and nothing else of ours. */
    childEnvironment: () => NodeJS.ProcessEnv
  }
}

/** What children see of our environment. Asked once at the start already: no child is to find what it is not given. */
export default fp(async (app) => {
  const childEnvironment = createChildEnvironment({
    variables: process.env,
    secrets: () => app.secrets.all(),
    conceal (names) {
      if (!scrubEnvironment(names)) {
        app.log.warn(`Commands that run as the same user can read ${names.join(', ')} from the environment of this process.`)
      }
    }
  })
  app.decorate('childEnvironment', childEnvironment)
  childEnvironment()
}, { name: 'environment', dependencies: ['providers'] })
