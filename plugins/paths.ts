import { homedir } from 'node:os'
import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { unfitWorkspace } from '../services/lib/default-workspace.ts'
import { createPathPolicy, type PathPolicy } from '../services/tools/path-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The folder that runs work in by default; '' where there is none. */
    workspace: () => string
    /** That folder, else the user's home: where lists begin, and programs that need no folder. */
    usualFolder: () => string
    /** Why there is no workspace, a sentence. */
    noWorkspace: () => string | undefined
    paths: PathPolicy
  }
}

/** The folders that tools may use. */
export default fp<{ home: string, cwd: string }>(async (app, { home, cwd }) => {
  const meant = () => resolve(cwd, app.config.current.workspace ?? '.')
  const noWorkspace = () => unfitWorkspace(meant())
  const workspace = () => noWorkspace() === undefined ? meant() : ''
  app.decorate('workspace', workspace)
  app.decorate('noWorkspace', noWorkspace)
  app.decorate('usualFolder', () => workspace() || homedir())
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
