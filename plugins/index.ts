import type { FastifyInstance } from 'fastify'
import type { Settings } from '../settings.ts'
import agent from './agent.ts'
import agents from './agents.ts'
import approvals from './approvals.ts'
import attachments from './attachments.ts'
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
import toolVocabulary from './tool-vocabulary.ts'
import traces from './core/traces.ts'
import transform from './transform-worker.ts'
import uploads from './core/uploads.ts'
import warmUp from './core/warm-up.ts'
import usage from './usage.ts'
import web from './web.ts'
import youngGeneration from './core/young-generation.ts'

/** Registers every plugin in the order of their dependencies; they close in reverse order. */
export async function registerPlugins (app: FastifyInstance, settings: Settings) {
  await app.register(threadPool)
  await app.register(clock, settings)
  await app.register(requestLog)
  await app.register(routeTable)
  await app.register(errors)
  await app.register(config, settings)
  await app.register(uploads)
  await app.register(gate, settings)
  await app.register(shutdown)
  await app.register(store, settings)
  await app.register(stream)
  await app.register(traces)
  await app.register(transform)
  await app.register(attachments, settings)
  await app.register(providers, settings)
  await app.register(usage)
  await app.register(web)
  await app.register(environment)
  await app.register(desktop)
  await app.register(brain)
  await app.register(paths, settings)
  await app.register(undo, settings)
  await app.register(copies, settings)
  await app.register(sandbox, settings)
  await app.register(commands)
  await app.register(editors)
  await app.register(tools, settings)
  await app.register(mcp)
  await app.register(threadRepository)
  await app.register(events)
  await app.register(notifications)
  await app.register(ledger, settings)
  await app.register(youngGeneration)
  await app.register(engine)
  await app.register(toolVocabulary)
  await app.register(agents)
  await app.register(tasks)
  await app.register(agent)
  await app.register(rehearsals)
  await app.register(chatCompletions)
  await app.register(threads)
  await app.register(folders, settings)
  await app.register(search)
  await app.register(runs)
  await app.register(recordings)
  await app.register(approvals)
  await app.register(toolCalls)
  await app.register(extraction)
  await app.register(backup, settings)
  await app.register(health)
  await app.register(pages)
  await app.register(drain)
  await app.register(retention, settings)
  await app.register(warmUp)
}
