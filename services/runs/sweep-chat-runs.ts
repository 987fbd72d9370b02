import { CHAT_RUNS, threadKey } from '../store/keys.ts'
import type { Store } from '../store/store-types.ts'
import { chatRunRemoval } from './chat-run-record.ts'

/** The runs that are kept of each conversation. */
const MAX_RUNS = 1_000
/** Runs that are removed in one transaction. */
const BATCH = 50

/** Removes the records of the oldest runs of conversations with more than MAX_RUNS, and of conversations that do not exist any more. */
export async function sweepChatRuns (store: Pick<Store, 'keys' | 'get' | 'transact'>, signal?: AbortSignal): Promise<void> {
  let thread: string | undefined
  let runIds: string[] = []

  async function removeOld () {
    if (thread === undefined) return
    const kept = await store.get(threadKey(thread)) === undefined ? 0 : MAX_RUNS
    const old = runIds.slice(0, Math.max(runIds.length - kept, 0))
    for (let at = 0; at < old.length; at += BATCH) {
      await store.transact(old.slice(at, at + BATCH).flatMap((runId) => chatRunRemoval(thread!, runId)))
    }
  }

  for await (const key of store.keys(CHAT_RUNS)) {
    signal?.throwIfAborted()
    const [next, runId] = key.slice(CHAT_RUNS.length).split('/')
    if (next !== thread) {
      await removeOld()
      thread = next
      runIds = []
    }
    runIds.push(runId)
  }
  await removeOld()
}
