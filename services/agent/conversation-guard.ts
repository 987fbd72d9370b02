import { Aborted } from '../lib/abort.ts'
import { itemsIn } from '../run-log/open-calls.ts'
import { chatRunRemoval } from '../runs/chat-run-record.ts'
import { chatRunsPrefix, liveRunKey, runEventsPrefix, runInputKey, runKey, threadRunsPrefix } from '../store/keys.ts'
import type { Op } from '../store/store-types.ts'
import type { ConversationState } from './conversation-state.ts'
import type { RunCollaborators } from './launch-run.ts'
import { ConversationBusy } from './active-runs.ts'
import { loadRun } from './run-repository.ts'

/** Lets other services change or remove a conversation while no run and no request uses it. */
export function createConversationGuard (
  { deps, activeRuns, locked }: RunCollaborators,
  supersedePendingRun: (conversation: ConversationState) => Promise<unknown>
) {
  const { store, ledger, grants, conversations } = deps

  /** Returns the operations that remove the stored runs of a conversation, with all their approvals. */
  async function runRemovals (threadId: string): Promise<Op[]> {
    const ops: Op[] = []
    const prefix = threadRunsPrefix(store.digest(threadId))
    for await (const [key] of store.list(prefix)) {
      const runId = key.slice(prefix.length)
      const run = await loadRun(store, runId)
      const asked = itemsIn(run?.log.events ?? [])
      const keys = [key, runKey(runId), runInputKey(runId), liveRunKey(runId)]
      for await (const [chunk] of store.list(runEventsPrefix(runId))) keys.push(chunk)
      ops.push(...keys.map((key): Op => ({ type: 'del', key })), ...ledger.remove(asked))
    }
    const thread = store.digest(threadId)
    const runs = chatRunsPrefix(thread)
    for await (const key of store.keys(runs)) ops.push(...chatRunRemoval(thread, key.slice(runs.length)))
    return ops
  }

  return {
    isLive: activeRuns.has,

    /** Runs `work` alone in a conversation, after withdrawing its open approvals. Throws ConversationBusy (409) while a run is active. */
    exclusive: <T>(threadId: string, work: () => Promise<T>): Promise<T> =>
      locked(threadId, async () => {
        await activeRuns.current(threadId)
        if (activeRuns.has(threadId)) throw new ConversationBusy()
        await supersedePendingRun(await conversations.get(threadId))
        return work()
      }),

    /** Stops the conversation's run, then calls `work` with the operations that remove the conversation's runs and approvals. */
    removeWith: <T>(threadId: string, work: (ops: Op[]) => Promise<T>): Promise<T> =>
      locked(threadId, async () => {
        const live = await activeRuns.current(threadId)
        live?.abort(new Aborted('delete', 'The conversation was deleted.'))
        await live?.done
        return work([conversations.remove(threadId), ...await runRemovals(threadId), ...await grants.removals({ threadId })])
      })
  }
}
