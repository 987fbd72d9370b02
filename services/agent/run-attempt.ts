import type { ActiveRun } from './active-runs.ts'
import type { ConversationState } from './conversation-state.ts'

/** One execution of an active run, with its number at the fence. */
export interface RunAttempt {
  live: ActiveRun
  attempt: number
  conversation: ConversationState
  /** Returns how long the run has worked, over all its segments; milliseconds. */
  activeMs: () => number
}
