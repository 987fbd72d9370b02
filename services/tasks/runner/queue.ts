import type { Clock } from '../../lib/clock.ts'

/** How many runs can execute at once, by default. */
const DEFAULT_CONCURRENCY = 4
/** How many catch-up runs can execute at once. */
const MAX_CATCH_UPS = 2
/** Delay between the starts of two catch-up runs; milliseconds. */
const STAGGER_MS = 500

interface Entry {
  taskId: string
  isCatchUp: boolean
}

export type Queue = ReturnType<typeof createQueue>

/**
 * Creates the queue that executes runs in their order of arrival, with limited concurrency and a lower limit for
 * catch-up runs. The number of tasks bounds the length of the queue, because a task has at most one entry.
 */
export function createQueue (
  { limit, executeRun, clock }: {
    limit: () => number | undefined,
    executeRun: (taskId: string, runId: string) => Promise<void>,
    clock: Clock
  }
) {
  const waiting = new Map<string, Entry>()
  const executing = new Map<string, Entry & { done: Promise<void> }>()
  const closing = new AbortController()
  let staggered = false

  const mayCatchUp = () => !staggered && [...executing.values()].filter(({ isCatchUp }) => isCatchUp).length < MAX_CATCH_UPS

  function startNext () {
    while (!closing.signal.aborted && executing.size < (limit() ?? DEFAULT_CONCURRENCY)) {
      const next = firstWaiting(mayCatchUp())
      if (next === undefined) return
      begin(...next)
    }
  }

  function firstWaiting (allowCatchUp: boolean) {
    // A run can be queued again while its last attempt is still ending. The new entry then waits until that attempt has ended.
    for (const entry of waiting) if (!executing.has(entry[0]) && (allowCatchUp || !entry[1].isCatchUp)) return entry
    return undefined
  }

  function begin (runId: string, entry: Entry) {
    waiting.delete(runId)
    if (entry.isCatchUp) stagger()
    const done = executeRun(entry.taskId, runId).finally(() => {
      executing.delete(runId)
      startNext()
    })
    executing.set(runId, { ...entry, done })
  }

  function stagger () {
    staggered = true
    clock.sleep(STAGGER_MS, closing.signal).then(() => {
      staggered = false
      startNext()
    }, () => {})
  }

  return {
    push (taskId: string, runId: string, isCatchUp = false) {
      waiting.set(runId, { taskId, isCatchUp })
      startNext()
    },
    has: (runId: string) => waiting.has(runId) || executing.has(runId),
    drop: (runId: string) => void waiting.delete(runId),
    get size () {
      return waiting.size + executing.size
    },
    /** Starts no further run; resolves when the executing runs have ended. */
    async close () {
      closing.abort()
      await Promise.allSettled([...executing.values()].map(({ done }) => done))
    }
  }
}
