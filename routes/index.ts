import type { FastifyInstance } from 'fastify'
import agent from './agent.ts'
import agents from './agents.ts'
import approvals from './approvals.ts'
import attachments from './attachments.ts'
import backup from './backup.ts'
import brain from './brain.ts'
import commands from './commands.ts'
import chatCompletions from './chat-completions.ts'
import consolePage from './console.ts'
import docs from './docs.ts'
import editors from './editors.ts'
import events from './events.ts'
import folders from './folders.ts'
import grants from './grants.ts'
import undo from './undo.ts'
import mcp from './mcp.ts'
import notifications from './notifications.ts'
import providers from './providers.ts'
import runs from './runs.ts'
import rehearsals from './rehearsals.ts'
import search from './search.ts'
import service from './service.ts'
import skills from './skills.ts'
import tasks from './tasks.ts'
import threads from './threads.ts'
import toolCalls from './tool-calls.ts'
import usage from './usage.ts'

/** Registers every route of the service. */
export async function registerRoutes (app: FastifyInstance) {
  await app.register(service)
  await app.register(docs)
  await app.register(consolePage)
  await app.register(agent)
  await app.register(chatCompletions)
  await app.register(approvals)
  await app.register(notifications)
  await app.register(toolCalls)
  await app.register(commands)
  await app.register(skills)
  await app.register(folders)
  await app.register(grants)
  await app.register(agents)
  await app.register(attachments)
  await app.register(threads)
  await app.register(editors)
  await app.register(search)
  await app.register(tasks)
  await app.register(runs)
  await app.register(rehearsals)
  await app.register(undo)
  await app.register(events)
  await app.register(brain)
  await app.register(providers)
  await app.register(mcp)
  await app.register(usage)
  await app.register(backup)
}
