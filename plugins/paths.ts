import { homedir } from 'node:os'
import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { unfitWorkspace } from '../services/lib/default-workspace.ts'
import { createPathPolicy, type PathPolicy } from '../services/tools/path-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the folder in which runs work by default; '' if there is none. */
    workspace: () => string
    /**
     * Returns that folder, or the user's home if there is none: lists of folders begin here, and programs without a folder of their own run
     * here.
     */
    usualFolder: () => string
    /** Returns the sentence that says why there is no workspace; undefined if there is one. */
    noWorkspace: () => string | undefined
    paths: PathPolicy
  }
}

/** The workspace, and the policy for the paths that tools are allowed to use. */
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
      // The plugin of the copies is registered after this one.
      get copies () {
        return app.copies
      }
    })
  )
}, { name: 'paths', dependencies: ['config'] })
