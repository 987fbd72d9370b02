import fp from 'fastify-plugin'
import { runInBackground } from './core/background.ts'
import { toldTools } from '../services/runs/engine/told-tools.ts'
import { askStructured } from '../services/models/structured-call.ts'
import { RECORDS } from '../services/store/keys.ts'
import { createToolVocabulary, type StoredToolWords, type ToolVocabulary } from '../services/tools/deferred/tool-vocabulary.ts'

declare module 'fastify' {
  interface FastifyInstance {
    toolVocabulary: ToolVocabulary
  }
}

/** Deadline of a question, which a small model on this machine may need; nobody waits for its answer. Milliseconds. */
const ANSWER_MS = 3 * 60_000
/** Delay after the start, so that the first requests are not slowed down, and servers may connect. Milliseconds. */
const DELAY_MS = 3_000

/** The words under which the tools of servers are found, given by the model of role `fast`. */
export default fp(async (app) => {
  const { clock, config, engine, log, providers, store, tools: host, usage } = app
  const vocabulary = createToolVocabulary({
    stored: store.record<StoredToolWords>(RECORDS.toolWords, () => ({})),
    tools: () => host.sources().flatMap(({ given }) => given),
    ask: (question) => {
      const load = () => providers.model('fast')
      return askStructured({ load, meter: usage.meter({}), limitMs: ANSWER_MS, clock, ...question })
    },
    isOffline: () => providers.roles().fast.startsWith('offline/'),
    // A server of the user's own answers one question at a time.
    isBusy: () => providers.reach(providers.roles().fast) !== 'cloud' && engine.activeRuns.size + engine.activeRuns.ofTasks().length > 0,
    async isWanted (signal) {
      if (config.current.toolSearch?.words === false) return false
      const { deferred = [] } = await toldTools(host.offered(), { host, registry: providers }, signal)
      return deferred.some((name) => host.identity(name) !== undefined)
    },
    clock,
    log
  })
  app.decorate('toolVocabulary', vocabulary)
  host.watch(vocabulary.changed)

  runInBackground(app, DELAY_MS, vocabulary.run)
}, { name: 'tool-vocabulary', dependencies: ['clock', 'store', 'config', 'providers', 'tools', 'usage', 'engine'] })
