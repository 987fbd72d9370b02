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

/** Deadline of background model calls, and of those to local servers, which are slow and stop for the user. Milliseconds. */
const ANSWER_MS = 30_000
const LOCAL_ANSWER_MS = 5 * 60_000
/** Tokens for the thoughts of a model that cannot be asked not to think. */
const THOUGHT_TOKENS = 2_000
/** The model that answers no such question. */
const OFFLINE = 'offline/assistant'
/** Delay after the start, so that the first requests are not slowed down. Milliseconds. */
const DELAY_MS = 5_000
/** The same for the extraction, which may have much to do. Milliseconds. */
const EXTRACTION_DELAY_MS = 2 * 60_000

/** The newest tasks whose goals the extraction looks at. */
const SHOWN_TASKS = 20

/** Returns a function that opens something at its first call, and again after a failure: the store may be readable then. */
function openedOnce<T> (open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => (opened ??= open().catch((error) => {
    opened = undefined
    throw error
  }))
}

/**
 * Creates the function that returns the models for questions about a thread: those of its newest run, so that what was said to a server
 * of the user's own goes nowhere else. When its model is gone, the active one answers in its place, unless it is the only one of the two
 * in the cloud.
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
  /** `thread` is the thread that the question is about; undefined for what was typed. */
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
