import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import type { Settings } from '../settings.ts'
import agent from './agent.ts'
import agents from './agents.ts'
import approvals from './approvals.ts'
import attachments from './attachments.ts'
import awake from './core/awake.ts'
import backup from './backup.ts'
import brain from './brain.ts'
import chatCompletions from './chat-completions.ts'
import clock from './core/clock.ts'
import commands from './commands.ts'
import copies from './copies.ts'
import config from './core/config.ts'
import desktop from './desktop.ts'
import pages from './core/pages.ts'
import editors from './editors.ts'
import drain from './core/drain.ts'
import environment from './core/environment.ts'
import errors from './core/errors.ts'
import engine from './engine.ts'
import events from './events.ts'
import folders from './folders.ts'
import health from './core/health.ts'
import extraction from './extraction.ts'
import gate from './core/gate.ts'
import undo from './undo.ts'
import ledger from './ledger.ts'
import mcp from './mcp.ts'
import notifications from './notifications.ts'
import paths from './paths.ts'
import providers from './providers.ts'
import reach from './reach/reach.ts'
import recordings from './recordings.ts'
import rehearsals from './rehearsals.ts'
import requestLog from './core/request-log.ts'
import retention from './core/retention.ts'
import routeTable from './core/route-table.ts'
import runs from './runs.ts'
import sandbox from './sandbox.ts'
import search from './search.ts'
import shutdown from './core/shutdown.ts'
import store from './core/store.ts'
import stream from './core/stream.ts'
import tasks from './tasks.ts'
import threadRepository from './thread-repository.ts'
import threadPool from './core/thread-pool.ts'
import threads from './threads.ts'
import toolCalls from './tool-calls.ts'
import tools from './tools.ts'
import traces from './core/traces.ts'
import transform from './transform-worker.ts'
import uploads from './core/uploads.ts'
import warmUp from './core/warm-up.ts'
import usage from './usage.ts'
import web from './web.ts'
import youngGeneration from './core/young-generation.ts'

/** All plugins, each after those that it depends on. They close in reverse order. */
const PLUGINS: Array<FastifyPluginCallback<Settings>> = [
  threadPool, clock, requestLog, routeTable, errors, config, uploads, gate, shutdown, store, stream, traces,
  transform, attachments, providers, usage, web, environment, awake, desktop, brain, paths, undo, copies, sandbox,
  commands, editors, tools, mcp, threadRepository, events, notifications, ledger, youngGeneration, engine,
  agents, tasks, agent, rehearsals, chatCompletions, threads, folders, search, runs,
  recordings, approvals, reach, toolCalls, extraction, backup, health, pages, drain, retention, warmUp
]

/** Registers every plugin with the settings. */
export async function registerPlugins (app: FastifyInstance, settings: Settings) {
  for (const plugin of PLUGINS) await app.register(plugin, settings)
}
