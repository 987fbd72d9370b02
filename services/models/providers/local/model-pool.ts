import type { Clock } from '../../../lib/clock.ts'
import type { Provider } from '../provider.ts'
import type { ModelFile } from './model-file-list.ts'
import type { ModelFit } from './model-fit.ts'
import type { ModelServer } from './model-server.ts'

/** How long a server that no call uses is kept, in milliseconds. */
const IDLE_MS = 10 * 60_000
/** How often idle servers are looked for, milliseconds. */
const LOOK_MS = IDLE_MS / 10

/** A server with the provider that calls it. */
export interface ServedFile {
  server: ModelServer
  provider: Provider
}

interface Running {
  name: string
  /** Identifies the state of the file when the server started. */
  stamp: string
  served: Promise<ServedFile>
  /** Set once the server has started. */
  ready?: ServedFile
  /** The context window and the memory of the server, once they are known. */
  fit?: ModelFit
  calls: number
  /** When the last call ended; `clock.awake()`. */
  usedAt: number
}

/** Starts the server of a file. `reserve` is called before the memory is taken. */
type Start = (file: ModelFile, signal: AbortSignal, reserve: (fit: ModelFit) => void) => Promise<ServedFile>

interface Pool {
  clock: Clock
  start: Start
  /** The servers that new calls use, by the name of the model. */
  running: Map<string, Running>
  /** All servers that take memory: the servers in `running`, and replaced servers that still finish their calls. */
  living: Set<Running>
  /** Servers that are ending. */
  ending: Map<Running, Promise<void>>
  closed: AbortController
  isWatched: boolean
}

/** Creates the pool of servers for model files. A server starts at the first call of its model and ends some minutes after the last one. */
export function createModelPool ({ clock, start }: Pick<Pool, 'clock' | 'start'>) {
  const pool: Pool = {
    ...{ clock, start, running: new Map(), living: new Set(), ending: new Map() },
    ...{ closed: new AbortController(), isWatched: false }
  }
  return {
    /**
     * Returns the server of a file, which is kept until `release` is called. If the file at the path has changed (`stamp`), a new server is
     * started for it.
     */
    lease: (file: ModelFile, stamp: string) => lease(pool, file, stamp),

    /** Returns the server of a model; undefined if none has started. */
    served: (name: string): ServedFile | undefined => usedOf(pool, name)?.ready,

    /** Returns whether the server of a model is running or starting. */
    stateOf (name: string): 'stopped' | 'loading' | 'loaded' {
      const each = usedOf(pool, name)
      return each === undefined ? 'stopped' : each.ready === undefined ? 'loading' : 'loaded'
    },

    /** Returns the servers of other models with their memory. The state `idle` means that no call uses the server. */
    others: (name: string) =>
      [...pool.living].filter((each) => each.name !== name && !each.ready?.server.hasEnded()).map((each) => {
        const { fit: { size, bytes } = { size: 0, bytes: 0 }, ready, calls } = each
        const state = ready === undefined ? 'loading' as const : calls > 0 ? 'loaded' as const : 'idle' as const
        return { name: each.name, size, bytes, state }
      }),

    /** Ends the idle server that has been unused for longest, except the server of `name`. Resolves to true if a server has ended. */
    async endIdle (name: string): Promise<boolean> {
      const [oldest] = [...pool.running.values()].filter((each) => each.name !== name && each.calls === 0)
        .sort((a, b) => a.usedAt - b.usedAt)
      if (oldest !== undefined) retire(pool, oldest)
      // A server that is still loading might itself be waiting for this end.
      const ends = [...pool.ending].flatMap(([each, end]) => each.ready === undefined ? [] : [end])
      await Promise.all(ends)
      return ends.length > 0
    },

    /** Ends all servers. No further ones start. */
    async end (): Promise<void> {
      pool.closed.abort('closed')
      pool.running.clear()
      for (const each of pool.living) endServer(pool, each)
      await Promise.all(pool.ending.values())
    }
  }
}

const usedOf = ({ running }: Pool, name: string): Running | undefined => {
  const each = running.get(name)
  return each?.ready?.server.hasEnded() ? undefined : each
}

async function lease (pool: Pool, file: ModelFile, stamp: string): Promise<ServedFile & { release: () => void }> {
  pool.closed.signal.throwIfAborted()
  const { name } = file
  const before = pool.running.get(name)
  if (before !== undefined && (before.stamp !== stamp || before.ready?.server.hasEnded())) retire(pool, before)
  const each = pool.running.get(name) ?? startOf(pool, file, stamp)
  each.calls++
  let isReleased = false
  const release = () => {
    if (isReleased) return
    isReleased = true
    each.calls--
    each.usedAt = pool.clock.awake()
    if (each.calls === 0 && pool.running.get(name) !== each) endServer(pool, each)
  }
  try {
    return { ...await each.served, release }
  } catch (error) {
    release()
    throw error
  }
}

function startOf (pool: Pool, file: ModelFile, stamp: string): Running {
  const { running, living, clock, closed, start } = pool
  const { name } = file
  const reserve = (fit: ModelFit) => {
    each.fit = fit
  }
  // `start` calls `reserve` later, when it has read the file.
  const each: Running = { name, stamp, served: start(file, closed.signal, reserve), calls: 0, usedAt: clock.awake() }
  running.set(name, each)
  living.add(each)
  each.served.then((served) => {
    each.ready = served
    void watch(pool)
  }, () => {
    living.delete(each)
    // The next call tries again.
    if (running.get(name) === each) running.delete(name)
  })
  return each
}

/** Ends a server as soon as no call uses it. */
function retire (pool: Pool, each: Running): void {
  if (pool.running.get(each.name) === each) pool.running.delete(each.name)
  if (each.calls === 0) endServer(pool, each)
}

function endServer ({ living, ending }: Pool, each: Running): void {
  if (ending.has(each)) return
  const ended = each.served.then(async ({ server, provider }) => {
    await server.end()
    living.delete(each)
    await provider.close?.()
  }, () => {})
  ending.set(each, ended)
  void ended.finally(() => ending.delete(each))
}

/** Ends servers that have been unused for a while. */
async function watch (pool: Pool): Promise<void> {
  const { running, clock, closed: { signal } } = pool
  if (pool.isWatched) return
  pool.isWatched = true
  while (running.size > 0 && !signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => {})
    for (const each of running.values()) if (each.calls === 0 && clock.awake() - each.usedAt >= IDLE_MS) retire(pool, each)
  }
  pool.isWatched = false
}
