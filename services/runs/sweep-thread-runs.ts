import { type Store, THREAD_RUNS, threadKey, threadRunKey } from '../store/index.ts'
import type { RunRepository } from './run-repository.ts'

/** The runs that are kept of each conversation. */
const MAX_RUNS = 1_000

/** Removes the oldest runs of conversations with more than MAX_RUNS, and all runs of conversations that do not exist any more. */
export async function sweepThreadRuns (
  { store, runs }: { store: Pick<Store, 'keys' | 'get' | 'transact'>, runs: RunRepository },
  signal?: AbortSignal
): Promise<void> {
  let thread: string | undefined
  let runIds: string[] = []

  async function removeOld () {
    if (thread === undefined) return
    const kept = await store.get(threadKey(thread)) === undefined ? 0 : MAX_RUNS
    for (const runId of runIds.slice(0, Math.max(runIds.length - kept, 0))) {
      await store.transact([...await runs.recordRemoval('thread', runId), { type: 'del', key: threadRunKey(thread, runId) }])
    }
  }

  for await (const key of store.keys(THREAD_RUNS)) {
    signal?.throwIfAborted()
    const [next, runId] = key.slice(THREAD_RUNS.length).split('/')
    if (next !== thread) {
      await removeOld()
      thread = next
      runIds = []
    }
    runIds.push(runId)
  }
  await removeOld()
}
