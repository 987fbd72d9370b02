import { Aborted } from '../lib/abort.ts'
import { ConversationBusy, itemsIn, type ThreadRun } from '../runs/index.ts'
import { type Op, provenanceKey, unlessDamaged } from '../store/index.ts'
import type { ConversationState } from './conversation-state.ts'
import type { RunCollaborators } from './launch-run.ts'

/** Lets other services change or remove a conversation while no run and no request uses it. */
export function createConversationGuard (
  { deps, activeRuns, locked }: RunCollaborators,
  supersedePendingRun: (conversation: ConversationState) => Promise<unknown>
) {
  const { runs, ledger, grants, conversations } = deps

  /** Returns the operations that remove the stored runs of a conversation, with all their approvals. */
  async function runRemovals (threadId: string): Promise<Op[]> {
    const ops: Op[] = []
    const runIds: string[] = []
    for await (const runId of runs.ofThread(threadId)) {
      const run = await unlessDamaged(runs.load<ThreadRun>(runId))
      const asked = [...new Set([...run?.record.asked ?? [], ...itemsIn(run?.log.events ?? [])])]
      // The record of a rehearsal's changes in its copy is stored under the rehearsal's own run id.
      const changes = run?.record.sheet === undefined ? [] : await deps.undo.removal(runId)
      ops.push(...ledger.remove(asked), ...changes)
      runIds.push(runId)
    }
    return [...await runs.threadRemoval(threadId, runIds), ...ops]
  }

  return {
    isLive: activeRuns.has,

    /** Runs `work` while no request can start, continue or end a run of the conversation. */
    undisturbed: <T>(threadId: string, work: () => Promise<T>): Promise<T> => locked(threadId, work),

    /**
     * Withdraws the open approvals of a conversation, then runs `work` while nothing else can use the conversation. Throws ConversationBusy
     * (409) while a run is active.
     */
    exclusive: <T>(threadId: string, work: () => Promise<T>): Promise<T> =>
      locked(threadId, async () => {
        await activeRuns.current(threadId)
        if (activeRuns.has(threadId)) throw new ConversationBusy()
        await supersedePendingRun(await conversations.get(threadId))
        return work()
      }),

    /** Stops the conversation's run, then calls `work` with the operations that remove the conversation's runs, approvals and grants. */
    removeWith: <T>(threadId: string, work: (ops: Op[]) => Promise<T>): Promise<T> =>
      locked(threadId, async () => {
        const live = await activeRuns.current(threadId)
        live?.abort(new Aborted('delete', 'The conversation was deleted.'))
        await live?.done
        const known: Op = { type: 'del', key: provenanceKey(deps.store.digest(threadId)) }
        const removals = await Promise.all([runRemovals(threadId), grants.removals({ threadId }), ledger.decided.removals({ threadId })])
        return work([conversations.remove(threadId), known, ...removals.flat()])
      })
  }
}
