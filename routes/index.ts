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
import devices from './devices.ts'
import docs from './docs.ts'
import editors from './editors.ts'
import events from './events.ts'
import folders from './folders.ts'
import grants from './grants.ts'
import undo from './undo.ts'
import mcp from './mcp.ts'
import notifications from './notifications.ts'
import providers from './providers.ts'
import reach from './reach.ts'
import runs from './runs.ts'
import rehearsals from './rehearsals.ts'
import search from './search.ts'
import service from './service.ts'
import skills from './skills.ts'
import tasks from './tasks.ts'
import threads from './threads.ts'
import toolCalls from './tool-calls.ts'
import usage from './usage.ts'

/** All routes, in the order in which `GET /` lists them. */
const ROUTES = [
  service, docs, consolePage, agent, chatCompletions, approvals, devices, notifications, toolCalls, commands, skills,
  folders, grants, agents, attachments, threads, editors, search, tasks, runs, rehearsals, undo, events,
  brain, providers, mcp, usage, backup
]

/** Registers every route of the service. */
export async function registerRoutes (app: FastifyInstance) {
  for (const routes of ROUTES) await app.register(routes)
  // The routes of the port for devices have a server of their own, which is built when config.json has the key `reach`.
  app.reachPort.useRoutes(reach)
}
