import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { createDescribeImage } from '../services/models/describe-image.ts'
import { createBuiltinTools } from '../services/tools/builtin.ts'
import { RECORDS } from '../services/store/keys.ts'
import { createFence, type Fence } from '../services/tools/fence.ts'
import { createFolderGuides, type FolderGuides, type KnownGuides } from '../services/tools/files/folder-guide.ts'
import { createToolHost, type ToolHost } from '../services/tools/host.ts'
import { createPathPolicy } from '../services/tools/path-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tools: ToolHost
    fence: Fence
    folderGuides: FolderGuides
    /** The folder that runs work in by default. */
    workspace: () => string
  }
}

/** The tool host, which executes all tool calls. */
export default fp<{ home: string, cwd: string }>(async (app, { home, cwd }) => {
  const workspace = () => resolve(cwd, app.config.current.workspace ?? '.')
  const paths = createPathPolicy({
    get workspace () {
      return workspace()
    },
    get roots () {
      return app.config.current.roots ?? []
    },
    forbidden: home
  })
  const fence = createFence()
  app.decorate('workspace', workspace)
  const known = app.store.record<KnownGuides>(RECORDS.guides, () => ({ digests: [] }))
  app.decorate('folderGuides', createFolderGuides({ paths, known, digest: app.store.digest }))
  app.decorate('fence', fence)
  const describe = createDescribeImage({ registry: app.providers, clock: app.clock, usage: app.usage })
  app.decorate(
    'tools',
    createToolHost({
      tools: createBuiltinTools({
        paths,
        clock: app.clock,
        environment: app.childEnvironment,
        web: app.web,
        search: app.webSearch,
        desktop: app.desktop,
        describe,
        brain: app.brain,
        // The agent is made of the tools.
        userWords: (runId) => app.agent.userWords(runId)
      }),
      permissions: () => app.config.current.permissions ?? {},
      clock: app.clock,
      fence
    })
  )
}, { name: 'tools', dependencies: ['clock', 'store', 'config', 'environment', 'web', 'desktop', 'brain', 'usage'] })
