import type { App, Settings } from '../app.ts'
import agent from './agent.ts'
import backup from './backup.ts'
import brain from './brain.ts'
import catalog from './catalog.ts'
import clock from './clock.ts'
import config from './config.ts'
import desktop from './desktop.ts'
import docs from './docs.ts'
import drain from './drain.ts'
import environment from './environment.ts'
import errors from './errors.ts'
import health from './health.ts'
import extraction from './extraction.ts'
import gate from './gate.ts'
import mcp from './mcp.ts'
import providers from './providers.ts'
import retention from './retention.ts'
import routeTable from './route-table.ts'
import shutdown from './shutdown.ts'
import store from './store.ts'
import stream from './stream.ts'
import tasks from './tasks.ts'
import threads from './threads.ts'
import tools from './tools.ts'
import transform from './transform.ts'
import uploads from './uploads.ts'
import warmUp from './warm-up.ts'
import web from './web.ts'

/** Every plugin, in the order in which they depend on each other; they close in the reverse order. */
export async function registerPlugins (app: App, settings: Settings) {
  await app.register(clock, settings)
  await app.register(routeTable)
  await app.register(errors)
  await app.register(config, settings)
  await app.register(uploads)
  await app.register(gate, settings)
  await app.register(shutdown)
  await app.register(store, settings)
  await app.register(stream)
  await app.register(providers, settings)
  await app.register(transform)
  await app.register(web)
  await app.register(environment)
  await app.register(desktop)
  await app.register(tools, settings)
  await app.register(mcp)
  await app.register(brain)
  await app.register(threads)
  await app.register(tasks)
  await app.register(agent)
  await app.register(catalog)
  await app.register(extraction)
  await app.register(backup, settings)
  await app.register(health)
  await app.register(docs)
  await app.register(drain)
  await app.register(retention)
  await app.register(warmUp)
}
