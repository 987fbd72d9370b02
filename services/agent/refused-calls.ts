import type { Clock } from '../lib/clock.ts'
import type { Op, Store } from '../store/store-types.ts'
import type { Approval } from '../approvals/approval-record.ts'
import type { Denial } from './system-prompt.ts'

/** What outlasts a run of its conversation. */
export interface ConversationState {
  threadId: string
  /** The newest run that asked for approvals, until the user says something else. */
  runId?: string
  /** Calls the user refused, oldest first. */
  denials: Denial[]
  updatedAt: number
}

/** Refusals beyond these are forgotten, oldest first. */
const DENIALS_KEPT = 200

export type ConversationStates = ReturnType<typeof createConversationStates>

/** The memory that runs of one conversation share. Thread ids are callers' text, so the keys are digests. */
export function createConversationStates ({ store, clock }: { store: Store, clock: Clock }) {
  const key = (threadId: string) => `conversation/${store.digest(threadId)}`
  const put = (conversation: ConversationState): Op => ({
    type: 'put',
    key: key(conversation.threadId),
    value: { ...conversation, updatedAt: clock.now() }
  })

  return {
    async get (threadId: string): Promise<ConversationState> {
      return await store.get<ConversationState>(key(threadId)) ?? { threadId, denials: [], updatedAt: clock.now() }
    },

    /** The operation that forgets it. */
    remove: (threadId: string): Op => ({ type: 'del', key: key(threadId) }),

    /** The conversation once these calls were refused, and the operation that says so on disk. */
    deny (conversation: ConversationState, refused: Approval[]): { conversation: ConversationState, op: Op } {
      const denials = [
        ...conversation.denials,
        ...refused.map(({ toolName, input, digest, reason }) => ({ toolName, input, digest, ...(reason && { reason }) }))
      ]
      const changed = { ...conversation, denials: denials.slice(-DENIALS_KEPT) }
      return { conversation: changed, op: put(changed) }
    },

    /** The operation that makes a run the newest that asked. */
    asked: (conversation: ConversationState, runId: string): Op => put({ ...conversation, runId }),

    /** The conversation once the user has said something else than an answer, and the operation that says so on disk. */
    leave ({ runId, ...rest }: ConversationState): { conversation: ConversationState, op: Op } {
      return { conversation: rest, op: put(rest) }
    }
  }
}

/** Whether the user refused this very call before. */
export function wasDenied ({ denials }: ConversationState, toolName: string, digest: string): boolean {
  return denials.some((denial) => denial.toolName === toolName && denial.digest === digest)
}
