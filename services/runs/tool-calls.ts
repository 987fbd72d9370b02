import type { TaskToolCall } from '../../schemas/task-runs.ts'
import { OUTCOME_UNKNOWN, PHASE_TOOL } from '../contracts/model-texts.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { withoutDroppedTries } from './run-log/cut-steps.ts'

/** The most characters of each tool input and output in the record of a run. The events contain them in full. */
export const CALL_SHOWN = 2_000

/**
 * Returns the tool calls of a run in order, each with its outcome. Calls of the phase tool are left out, because they only report progress.
 * `limit` is the number of characters kept of each input and output. With `isOver`, the outcome of a call that had begun and has none is
 * unknown, because the log of a run that was cut might continue and does not say so.
 */
export function toolCallsOf (log: readonly RunEvent[], limit = Infinity, isOver = false): TaskToolCall[] {
  const calls = new Map<string, TaskToolCall>()
  for (const event of withoutDroppedTries(log)) {
    if (!('toolCallId' in event) || event.toolCallId === undefined || ('toolName' in event && event.toolName === PHASE_TOOL)) continue
    const { toolCallId } = event
    const call = calls.get(toolCallId)
    const duration = 'durationMs' in event && event.durationMs !== undefined && { durationMs: event.durationMs }
    switch (event.type) {
      case 'tool-intent':
        Object.assign(call ?? {}, { begun: true }, event.grantId !== undefined && { grantId: event.grantId })
        break
      case 'tool-call-request':
        Object.assign(call ?? {}, { begun: true })
        break
      case 'tool-input':
        calls.set(toolCallId, { toolCallId, toolName: event.toolName, input: shorten(event.input, limit), status: 'pending' })
        break
      case 'tool-input-error':
        calls.set(toolCallId, {
          toolCallId,
          toolName: event.toolName,
          input: shorten(event.input, limit),
          status: 'error',
          error: event.errorText
        })
        break
      case 'tool-output':
        Object.assign(call ?? {}, { output: shorten(event.output, limit), status: 'completed' }, duration)
        break
      case 'tool-error':
        Object.assign(call ?? {}, { error: event.errorText, status: 'error' }, duration)
        break
      case 'tool-denied':
        Object.assign(call ?? {}, { error: event.reason, status: 'denied' })
        break
      default:
        // Other events do not change a call.
    }
  }
  if (!isOver) return [...calls.values()]
  return [...calls.values()].map((call) => call.begun && call.status === 'pending'
    ? { ...call, error: OUTCOME_UNKNOWN, status: 'error' }
    : call)
}

/** Returns a value unchanged when its JSON is short enough, otherwise the beginning of its JSON. */
function shorten (value: unknown, limit: number): unknown {
  if (limit === Infinity) return value
  const json = JSON.stringify(value) ?? ''
  return json.length <= limit ? value : `${json.slice(0, limit)}…`
}
