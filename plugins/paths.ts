import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { createPathPolicy, type PathPolicy } from '../services/tools/path-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The folder that runs work in by default. */
    workspace: () => string
    paths: PathPolicy
  }
}

/** The folders that tools may use. */
export default fp<{ home: string, cwd: string }>(async (app, { home, cwd }) => {
  const workspace = () => resolve(cwd, app.config.current.workspace ?? '.')
  app.decorate('workspace', workspace)
  app.decorate(
    'paths',
    createPathPolicy({
      get workspace () {
        return workspace()
      },
      get roots () {
        return app.config.current.roots ?? []
      },
      forbidden: home,
      // Made after this plugin.
      get copies () {
        return app.copies
      }
    })
  )
}, { name: 'paths', dependencies: ['config'] })
