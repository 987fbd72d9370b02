import type { Clock } from '../../lib/clock.ts'

/** The default number of runs that may execute at once. */
const DEFAULT_CONCURRENCY = 4
/** Catch-up runs that may execute at once. */
const MAX_CATCH_UPS = 2
/** Delay between the starts of two catch-up runs; milliseconds. */
const STAGGER_MS = 500

interface Entry {
  taskId: string
  isCatchUp: boolean
}

export type Queue = ReturnType<typeof createQueue>

/**
 * Executes runs in their order of arrival with limited concurrency; catch-up runs have a lower limit. A task has at
 * most one entry, so the number of tasks bounds the queue.
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
    // A run that was queued again before its last attempt has ended waits for that end.
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
