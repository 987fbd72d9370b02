import type { RunAttempt } from '../runs/engine/attempt.ts'
import type { ThreadRun } from '../runs/run-record.ts'
import type { ConversationState } from './conversation-state.ts'

/** One execution of a run of a conversation. */
export interface ConversationAttempt extends RunAttempt<ThreadRun> {
  conversation: ConversationState
}
