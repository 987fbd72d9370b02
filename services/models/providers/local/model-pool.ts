import type { Clock } from '../../../lib/clock.ts'
import type { Provider } from '../provider.ts'
import type { ModelFile } from './model-file-list.ts'
import type { ModelServer } from './model-server.ts'

/** How long a server stays without a call, ms. */
const IDLE_MS = 10 * 60_000
/** How often is looked for one, ms. */
const LOOK_MS = IDLE_MS / 10

/** A server with the provider that calls it. */
export interface ServedFile {
  server: ModelServer
  provider: Provider
}

interface Running {
  /** Names the file as it was at the start. */
  stamp: string
  served: Promise<ServedFile>
  /** Once it has started. */
  ready?: ServedFile
  calls: number
  /** When the last call ended; `clock.awake()`. */
  usedAt: number
}

interface Pool {
  clock: Clock
  start: (file: ModelFile, signal: AbortSignal) => Promise<ServedFile>
  /** The servers that new calls use, by the name of the model. */
  running: Map<string, Running>
  /** Those that end with the calls that they have. */
  retired: Set<Running>
  /** The ends of servers under way. */
  ending: Set<Promise<void>>
  closed: AbortController
  isWatched: boolean
}

/** Creates the servers of model files: each starts at its first call and ends some minutes after the last one. */
export function createModelPool ({ clock, start }: Pick<Pool, 'clock' | 'start'>) {
  const pool: Pool = {
    ...{ clock, start, running: new Map(), retired: new Set(), ending: new Set() },
    ...{ closed: new AbortController(), isWatched: false }
  }
  return {
    /** Returns the server of a file, which stays until `release` is called. Another file at the path gets a server of its own. */
    lease: (file: ModelFile, stamp: string) => lease(pool, file, stamp),

    /** Returns the server of a model; undefined if none has started. */
    served: (name: string): ServedFile | undefined => pool.running.get(name)?.ready,

    /** Ends the servers that no call uses, but that of `name`. Returns whether there were any. */
    async endIdle (name: string): Promise<boolean> {
      const idle = [...pool.running].filter(([other, { calls }]) => other !== name && calls === 0)
      for (const [other, each] of idle) retire(pool, other, each)
      await Promise.all(pool.ending)
      return idle.length > 0
    },

    /** Ends all servers. No more start. */
    async end (): Promise<void> {
      pool.closed.abort('closed')
      for (const [name, each] of pool.running) retire(pool, name, each)
      for (const each of pool.retired) endServer(pool, each)
      await Promise.all(pool.ending)
    }
  }
}

async function lease (pool: Pool, file: ModelFile, stamp: string): Promise<ServedFile & { release: () => void }> {
  pool.closed.signal.throwIfAborted()
  const { name } = file
  const before = pool.running.get(name)
  if (before !== undefined && (before.stamp !== stamp || before.ready?.server.hasEnded())) retire(pool, name, before)
  const each = pool.running.get(name) ?? startOf(pool, file, stamp)
  each.calls++
  let isReleased = false
  const release = () => {
    if (isReleased) return
    isReleased = true
    each.calls--
    each.usedAt = pool.clock.awake()
    if (pool.retired.has(each) && each.calls === 0) endServer(pool, each)
  }
  try {
    return { ...await each.served, release }
  } catch (error) {
    release()
    throw error
  }
}

function startOf (pool: Pool, file: ModelFile, stamp: string): Running {
  const { running, clock, closed, start } = pool
  const each: Running = { stamp, served: start(file, closed.signal), calls: 0, usedAt: clock.awake() }
  running.set(file.name, each)
  each.served.then((served) => {
    each.ready = served
    void watch(pool)
  }, () => {
    // The next call tries again.
    if (running.get(file.name) === each) running.delete(file.name)
  })
  return each
}

/** Has a server end once no call uses it. */
function retire (pool: Pool, name: string, each: Running): void {
  if (pool.running.get(name) === each) pool.running.delete(name)
  pool.retired.add(each)
  if (each.calls === 0) endServer(pool, each)
}

function endServer ({ retired, ending }: Pool, each: Running): void {
  retired.delete(each)
  const ended = each.served.then(async ({ server, provider }) => {
    await server.end()
    await provider.close?.()
  }, () => {})
  ending.add(ended)
  void ended.finally(() => ending.delete(ended))
}

/** Ends servers that nobody has used for a while. */
async function watch (pool: Pool): Promise<void> {
  const { running, clock, closed: { signal } } = pool
  if (pool.isWatched) return
  pool.isWatched = true
  while (running.size > 0 && !signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => {})
    for (const [name, each] of running) if (each.calls === 0 && clock.awake() - each.usedAt >= IDLE_MS) retire(pool, name, each)
  }
  pool.isWatched = false
}
