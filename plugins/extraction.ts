import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createExtraction, type Extractor } from '../services/brain/extraction/extractor.ts'
import { openExtractionBrake, type StoredBrake } from '../services/brain/extraction/extraction-brake.ts'
import { createFiling } from '../services/brain/extraction/file-entries.ts'
import { createIdleThreads } from '../services/brain/extraction/idle-threads.ts'
import { type Ask, askStructured } from '../services/models/structured-call.ts'
import type { Registry } from '../services/models/providers/registry.ts'
import type { ThreadRun } from '../services/runs/run-record.ts'
import { RECORDS } from '../services/store/index.ts'
import { firstOf } from '../services/lib/first-of.ts'
import { createTitles } from '../services/threads/titles.ts'
import { runInBackground } from './core/background.ts'

declare module 'fastify' {
  interface FastifyInstance {
    extraction: Extractor
    idleThreads: ReturnType<typeof createIdleThreads>
    titles: ReturnType<typeof createTitles>
  }
}

/** Deadline of background model calls, in milliseconds. Local servers get more time: they are slow, and stop while the user has a run. */
const ANSWER_MS = 30_000
const LOCAL_ANSWER_MS = 5 * 60_000
/** Output tokens added for the reasoning of a model whose reasoning cannot be switched off. */
const THOUGHT_TOKENS = 2_000
/** The offline model, which cannot answer such questions. */
const OFFLINE = 'offline/assistant'
/** Delay after the start, so that the first requests are not slowed down. Milliseconds. */
const DELAY_MS = 5_000
/** Delay of the extraction, which might have much to read. Milliseconds. */
const EXTRACTION_DELAY_MS = 2 * 60_000

/** The number of newest tasks whose goals the extraction is shown. */
const SHOWN_TASKS = 20

/**
 * Returns a function that opens a resource at its first call and keeps it. After a failure the next call tries again, because the store
 * might be readable by then.
 */
function openedOnce<T> (open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => (opened ??= open().catch((error) => {
    opened = undefined
    throw error
  }))
}

/**
 * Creates the function that returns the models for questions about a thread: the models of the thread's newest run. Text that was sent to a
 * local model therefore goes to no other server. If the run's model no longer exists, the active model takes its place; but if only the
 * active model is in the cloud, the offline model does.
 */
function createModelsOf ({ providers, engine }: Pick<FastifyInstance, 'providers' | 'engine'>) {
  return async (thread: string | undefined): Promise<Pick<Registry, 'roles' | 'model'>> => {
    if (thread === undefined) return providers
    const newest = await firstOf(engine.runs.ofThread(thread))
    const { model } = (newest === undefined ? undefined : await engine.runs.get<ThreadRun>(newest)) ?? {}
    if (model === undefined) return providers
    if (providers.usable(model.id) && providers.reach(model.id) === model.reach) return providers.forRun({ model: model.id })
    const mayCross = model.reach === 'cloud' || providers.reach(providers.active()) !== 'cloud'
    return mayCross ? providers : providers.forRun({ model: OFFLINE })
  }
}

/** Background work on threads, done by the model of role `fast`: extraction of the user's statements, and titles. */
export default fp(async (app) => {
  const { threadRepository: threads, brain, agent, threads: catalog, clock, config, providers, store, usage, helperQueue, log } = app
  const modelsOf = createModelsOf(app)
  const modelOf = async (thread: string | undefined) => (await modelsOf(thread)).roles().fast
  const isOffline = async (thread: string | undefined) => (await modelOf(thread)).startsWith('offline/')
  /**
   * Asks a model. `thread` is the thread that the question is about; undefined if the question is about text that the user typed in the
   * memory.
   */
  const ask: Ask<{ signal: AbortSignal, thread: string | undefined }> = async ({ thread, signal: ended, ...question }) =>
    helperQueue.afterRuns(await modelOf(thread), ended, (signal, isLocal) =>
      askStructured({
        load: async () => (await modelsOf(thread)).model('fast'),
        meter: usage.meter(thread === undefined ? {} : { owner: { kind: 'thread', id: thread } }),
        limitMs: isLocal ? LOCAL_ANSWER_MS : ANSWER_MS,
        ...!isLocal && { thoughtTokens: THOUGHT_TOKENS },
        clock,
        signal,
        ...question
      }))

  const extractor = createExtraction({
    threads,
    brain,
    ask,
    isOffline,
    log,
    async ranTasks () {
      const { tasks } = await app.tasks.list({ limit: SHOWN_TASKS })
      return tasks.flatMap(({ id, goal, lastRunAt }) => lastRunAt === undefined ? [] : [{ taskId: id, goal, at: lastRunAt }])
    }
  })
  const brake = openedOnce(() => openExtractionBrake({
    stored: store.record<StoredBrake>(RECORDS.extraction, () => ({})),
    clock,
    setup: () => [config.current, providers.keyChanges()]
  }))
  const idleThreads = createIdleThreads({
    threads,
    extractor,
    clock,
    log,
    isLive: agent.isLive,
    isBusy: helperQueue.isBusy,
    modelOf,
    brake,
    after: () => app.config.current.brain?.extractAfter
  })
  const filing = createFiling({ brain, ask, isOffline, clock, log, isWanted: () => app.config.current.brain?.extractAfter !== false })
  const titles = createTitles({ threads, catalog, ask, isOffline, log, isWanted: () => app.config.current.threads?.titles !== false })
  app.decorate('extraction', extractor)
  app.decorate('idleThreads', idleThreads)
  app.decorate('titles', titles)
  agent.onEnd(titles.ended)

  runInBackground(app, EXTRACTION_DELAY_MS, idleThreads.run)
  runInBackground(app, DELAY_MS, filing.run)
  app.addHook('preClose', titles.close)
}, {
  name: 'extraction',
  dependencies: ['threadRepository', 'brain', 'agent', 'threads', 'clock', 'providers', 'config', 'tasks', 'usage', 'engine', 'store']
})
