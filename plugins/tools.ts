import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { createDescribeImage } from '../services/models/describe-image.ts'
import { createBuiltinTools } from '../services/tools/builtin.ts'
import { createFence, type Fence } from '../services/tools/fence.ts'
import { createToolHost, type ToolHost } from '../services/tools/host.ts'
import { createPathPolicy } from '../services/tools/path-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tools: ToolHost
    fence: Fence
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
  app.decorate('fence', fence)
  const describe = createDescribeImage({ registry: app.providers, clock: app.clock })
  app.decorate(
    'tools',
    createToolHost({
      tools: createBuiltinTools({
        paths,
        transform: app.fileTransform,
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
}, { name: 'tools', dependencies: ['clock', 'config', 'environment', 'transform', 'web', 'desktop', 'brain'] })
