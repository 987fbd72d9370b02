import type { Clock } from '../lib/clock.ts'
import { conversationKey, type Op, type Store } from '../store/index.ts'
import type { RefusedCall, ToolItem } from '../contracts/approval-record.ts'
import type { RunAttempt, ThreadRun } from '../runs/index.ts'
import { withRefused } from './refused-calls.ts'

/** The state of a conversation that outlasts its runs. */
export interface ConversationState {
  threadId: string
  /** The newest run that waits for approvals or was interrupted, until a newer message supersedes it. */
  runId?: string
  /** Notes about the calls of a waiting run that was stopped. The model gets these notes with the next message. */
  notes?: string[]
  /** The refused calls, oldest first. */
  refusedCalls: RefusedCall[]
  updatedAt: number
}

export type ConversationStates = ReturnType<typeof createConversationStates>

/** Stores the state that the runs of one conversation share. Clients choose thread ids freely, so the store keys are digests of them. */
export function createConversationStates ({ store, clock }: { store: Store, clock: Clock }) {
  const key = (threadId: string) => conversationKey(store.digest(threadId))
  const put = (conversation: ConversationState): Op => ({
    type: 'put',
    key: key(conversation.threadId),
    value: { ...conversation, updatedAt: clock.now() }
  })

  return {
    async get (threadId: string): Promise<ConversationState> {
      return await store.get<ConversationState>(key(threadId)) ?? { threadId, refusedCalls: [], updatedAt: clock.now() }
    },

    /** Returns the operation that removes the state of a conversation. */
    remove: (threadId: string): Op => ({ type: 'del', key: key(threadId) }),

    /** Returns the state with these refused calls added, and the operation that stores it. */
    deny (conversation: ConversationState, refused: ToolItem[]): { conversation: ConversationState, op: Op } {
      const changed = { ...conversation, refusedCalls: withRefused(conversation.refusedCalls, refused) }
      return { conversation: changed, op: put(changed) }
    },

    /** Returns the operation that stores `runId` as the newest run that waits or was interrupted. */
    asked: (conversation: ConversationState, runId: string): Op => put({ ...conversation, runId }),

    /**
     * Returns the state without its waiting run, which a newer message superseded or the user stopped, and the operation that stores this
     * state. `notes` are kept for the next message.
     */
    clearPendingRun ({ runId, notes: _, ...rest }: ConversationState, notes: string[] = []): { conversation: ConversationState, op: Op } {
      const conversation = { ...rest, ...(notes.length > 0 && { notes }) }
      return { conversation, op: put(conversation) }
    }
  }
}

/** One execution of a run of a conversation. */
export interface ConversationAttempt extends RunAttempt<ThreadRun> {
  conversation: ConversationState
}
