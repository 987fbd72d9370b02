import type { Clock } from '../../lib/clock.ts'

/** Runs that may work at once, unless the configuration says otherwise. */
const CONCURRENCY = 4
/** Runs that make up for missed times: so many at once, and so long between the start of two. */
const CATCH_UPS = 2
const STAGGER_MS = 500

interface Entry {
  taskId: string
  isCatchUp: boolean
}

export type Queue = ReturnType<typeof createQueue>

/**
 * Lets runs work in the order they came, a few at a time, and what makes up for missed times fewer still. There is at
 * most one entry a task, so it is bounded by the tasks.
 */
export function createQueue (
  { limit, executeRun, clock }: {
    limit: () => number | undefined,
    executeRun: (taskId: string, runId: string) => Promise<void>,
    clock: Clock
  }
) {
  const waiting = new Map<string, Entry>()
  const working = new Map<string, Entry & { done: Promise<void> }>()
  const closing = new AbortController()
  let staggered = false

  const mayCatchUp = () => !staggered && [...working.values()].filter(({ isCatchUp }) => isCatchUp).length < CATCH_UPS

  function next () {
    while (!closing.signal.aborted && working.size < (limit() ?? CONCURRENCY)) {
      const found = first(mayCatchUp())
      if (found === undefined) return
      begin(...found)
    }
  }

  function first (catchesUp: boolean) {
    // One that is put back while it still comes to its end waits for that.
    for (const entry of waiting) if (!working.has(entry[0]) && (catchesUp || !entry[1].isCatchUp)) return entry
    return undefined
  }

  function begin (runId: string, entry: Entry) {
    waiting.delete(runId)
    if (entry.isCatchUp) stagger()
    const done = executeRun(entry.taskId, runId).finally(() => {
      working.delete(runId)
      next()
    })
    working.set(runId, { ...entry, done })
  }

  function stagger () {
    staggered = true
    clock.sleep(STAGGER_MS, closing.signal).then(() => {
      staggered = false
      next()
    }, () => {})
  }

  return {
    push (taskId: string, runId: string, isCatchUp = false) {
      waiting.set(runId, { taskId, isCatchUp })
      next()
    },
    has: (runId: string) => waiting.has(runId) || working.has(runId),
    drop: (runId: string) => {
      waiting.delete(runId)
    },
    get size () {
      return waiting.size + working.size
    },
    /** Begins nothing more; resolves when what works has come to its end. */
    async close () {
      closing.abort()
      await Promise.allSettled([...working.values()].map(({ done }) => done))
    }
  }
}
