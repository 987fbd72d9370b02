import type { RunStatus } from '../../schemas/tasks.ts'
import { openCalls } from '../contracts/run-events.ts'
import type { RunEvent } from '../contracts/run-events.ts'

/** Returns the status of an active run by its events. Its segment may be over already: its readers have got the end by then. */
export function activeStatus (events: readonly RunEvent[]): RunStatus {
  const [before, last] = events.slice(-2)
  if (last?.type !== 'finish') return 'running'
  if (before?.type === 'abort') return before.reason === 'shutdown' ? 'interrupted' : 'cancelled'
  if (before?.type === 'error') return 'failed'
  return last.finishReason === 'tool-calls' && openCalls(events).length > 0 ? 'pending_approval' : 'completed'
}
