import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import { createDescribeImage } from '../services/models/describe-image.ts'
import { withRunModels } from '../services/models/providers/registry.ts'
import { createBuiltinTools } from '../services/tools/builtin.ts'
import { RECORDS } from '../services/store/keys.ts'
import { createFence, type Fence } from '../services/tools/fence.ts'
import { createFolderGuides, type FolderGuides, type KnownGuides } from '../services/tools/files/folder-guide.ts'
import { createSkills, type Skills, type StoredSkills } from '../services/tools/skills/skills.ts'
import { createSkillList, type SkillList } from '../services/tools/skills/list-skills.ts'
import { createToolHost, type ToolHost } from '../services/tools/host.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tools: ToolHost
    fence: Fence
    folderGuides: FolderGuides
    skills: Skills
    skillList: SkillList
  }
}

const NEEDED = [
  ...['clock', 'store', 'config', 'sandbox', 'commands', 'editors'],
  ...['copies', 'transform', 'web', 'desktop', 'brain', 'undo', 'usage']
]

/** The tool host, which executes all tool calls. */
export default fp<Pick<Settings, 'replay'>>(async (app, { replay }) => {
  const fence = createFence()
  const known = app.store.record<KnownGuides>(RECORDS.guides, () => ({ digests: [] }))
  app.decorate('folderGuides', createFolderGuides({ paths: app.paths, known, digest: app.store.digest, clock: app.clock }))
  const skills = createSkills({
    paths: app.paths,
    config: () => app.config.current.skills,
    stored: app.store.record<StoredSkills>(RECORDS.skills, () => ({ pins: {}, shown: {} })),
    copies: app.copies
  })
  app.decorate('skills', skills)
  app.decorate('fence', fence)
  const describe = createDescribeImage({
    // The engine is created after the tools, so `app.engine` is read only at a call.
    registryOf: (runId) => withRunModels({ registry: app.providers }, app.engine.activeRuns.toolsOf(runId).options).registry,
    clock: app.clock,
    usage: app.usage
  })
  // The plugin of the tool servers is registered later.
  const resourceServers = () => app.mcp?.resourceServers() ?? []
  app.decorate(
    'tools',
    createToolHost({
      paths: app.paths,
      wrote: app.sandbox.keepWritten,
      tools: createBuiltinTools({
        paths: app.paths,
        transform: app.fileTransform,
        editors: app.openEditors,
        clock: app.clock,
        environment: app.childEnvironment,
        sandbox: app.sandbox,
        allowedOrigins: () => app.config.current.allowedOrigins ?? [],
        background: app.backgroundCommands,
        web: app.web,
        search: app.webSearch,
        desktop: app.desktop,
        describe,
        brain: app.brain,
        attachments: {
          files: app.attachedFiles,
          async attachmentsOf (runId) {
            const live = app.engine.activeRuns.ofRun(runId)
            const threadId = live?.run.record.threadId
            if (live === undefined || threadId === undefined) return []
            // The request of the run can name attachments, so it is stored before they are looked up.
            await live.run.saved
            const digests = await app.attachments.ofThread(app.store.digest(threadId))
            return (await Promise.all([...digests].map(app.attachments.find))).flatMap((found) => found ?? [])
          }
        },
        skills,
        // The engine is created after the tools, so `app.engine` is read only at a call.
        skillRun (runId) {
          const record = app.engine.activeRuns.find(runId)?.run.record
          return record && { cwd: record.cwd, isUnattended: record.taskId !== undefined }
        },
        // Same for the functions of the engine below.
        deferredTools: ({ runId, deferred }) => app.deferredTools(runId, deferred),
        investigate: (question, context) => app.investigate(question, context),
        // The agent is created after the tools.
        userWords: (runId) => app.agent.userWords(runId),
        conversationOf: (runId) => app.agent.conversationOf(runId),
        tasks: () => app.tasks,
        tellUser: (runId, text) => app.tasks.tellUser(runId, text),
        resourceServers
      }),
      permissions: () => app.config.current.permissions ?? {},
      prepare: app.sandbox.find,
      missing: {
        desktop: app.desktop.problem,
        resources: () => resourceServers().length === 0 ? 'No tool server that is connected has resources.' : undefined
      },
      clock: app.clock,
      fence,
      undo: app.undo,
      editors: app.openEditors,
      copies: app.copies,
      ...(replay && { replay }),
      ended ({ input, output, ...call }) {
        app.log.info(call, 'tool call')
        app.traces?.toolCall({ ...call, input, output })
      }
    })
  )
  app.decorate('skillList', createSkillList({ skills, workspace: () => app.usualFolder(), host: () => app.tools }))
}, { name: 'tools', dependencies: NEEDED })
