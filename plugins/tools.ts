import fp from 'fastify-plugin'
import { createDescribeImage } from '../services/models/describe-image.ts'
import { createBuiltinTools } from '../services/tools/builtin.ts'
import { createFence, type Fence } from '../services/tools/fence.ts'
import { createToolHost, type ToolHost } from '../services/tools/host.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tools: ToolHost
    fence: Fence
  }
}

/** The tool host, which executes all tool calls. */
export default fp(async (app) => {
  const fence = createFence()
  app.decorate('fence', fence)
  const describe = createDescribeImage({ registry: app.providers, clock: app.clock })
  app.decorate(
    'tools',
    createToolHost({
      tools: createBuiltinTools({
        paths: app.paths,
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
      fence,
      journal: app.journal
    })
  )
}, { name: 'tools', dependencies: ['clock', 'config', 'environment', 'web', 'desktop', 'brain', 'journal'] })
