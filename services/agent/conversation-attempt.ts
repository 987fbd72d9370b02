import type { RunAttempt, ThreadRun } from '../runs/index.ts'
import type { ConversationState } from './conversation-state.ts'

/** One execution of a run of a conversation. */
export interface ConversationAttempt extends RunAttempt<ThreadRun> {
  conversation: ConversationState
}
