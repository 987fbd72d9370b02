import type { ActiveRun } from './active-runs.ts'
import type { Deadline } from '../lib/deadline.ts'
import type { ObjectAnswer } from '../objects/object-answer.ts'
import type { Meter } from '../usage/meter.ts'
import type { ConversationState } from './conversation-state.ts'

/** One execution of an active run, with its number at the fence. */
export interface RunAttempt {
  live: ActiveRun
  attempt: number
  conversation: ConversationState
  /** Counts and admits the model calls of the run. */
  meter: Meter
  /** The structured answer that the run owes by its options. */
  owed?: ObjectAnswer
  /** Returns how long the run has worked, over all its segments; milliseconds. */
  activeMs: () => number
  /** Waits without letting the time of the run pass. */
  pause: Deadline['pause']
}
