import fp from 'fastify-plugin'
import { oldNode } from '../../services/lib/node-releases.ts'
import { scrubEnvironment, createChildEnvironment } from '../../services/process/child-environment.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the environment for child processes. Every child process gets exactly this environment. */
    childEnvironment: () => NodeJS.ProcessEnv
  }
}

/** The environment of child processes. It is computed at the start, so that withheld variables are scrubbed before any child runs. */
export default fp(async (app) => {
  const childEnvironment = createChildEnvironment({
    variables: process.env,
    secrets: () => app.secrets.all(),
    scrub (names) {
      if (!scrubEnvironment(names)) {
        app.log.warn(`Commands that run as the same user can read ${names.join(', ')} from the environment of this process.`)
      }
    }
  })
  app.decorate('childEnvironment', childEnvironment)
  const old = oldNode(process.versions.node)
  if (old !== undefined) app.log.warn(old)
  childEnvironment()
}, { name: 'environment', dependencies: ['providers'] })
