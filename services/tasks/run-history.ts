import type { TaskToolCall } from '../../schemas/task-runs.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { PHASE_TOOL } from './runner/phases.ts'

/** What a task run's history holds: a run's events, and before each call that changes something, that it was about to. */
export type TaskLogEvent = (RunEvent & { durationMs?: number }) | { type: 'tool-intent', toolCallId: string }

/** The events that a run's readers know, but for what its models were told beside them. */
export const runEvents = (log: readonly TaskLogEvent[]): RunEvent[] =>
  log.filter((event): event is RunEvent => event.type !== 'tool-intent' && event.type !== 'context')

/** The calls of a run in their order, each with what came of it; how far it said to be is no work. `most` characters of an input or output are kept. */
export function toolCallsOf (log: readonly TaskLogEvent[], most = Infinity): TaskToolCall[] {
  const calls = new Map<string, TaskToolCall>()
  for (const event of log) {
    if (!('toolCallId' in event) || ('toolName' in event && event.toolName === PHASE_TOOL)) continue
    const call = calls.get(event.toolCallId)
    const took = 'durationMs' in event && event.durationMs !== undefined && { durationMs: event.durationMs }
    switch (event.type) {
      case 'tool-input':
        calls.set(event.toolCallId, { tool: event.toolName, input: shorten(event.input, most), status: 'pending' })
        break
      case 'tool-input-error':
        calls.set(event.toolCallId, { tool: event.toolName, input: shorten(event.input, most), status: 'error', error: event.errorText })
        break
      case 'tool-output':
        Object.assign(call ?? {}, { output: shorten(event.output, most), status: 'complete' }, took)
        break
      case 'tool-error':
        Object.assign(call ?? {}, { error: event.errorText, status: 'error' }, took)
        break
      case 'tool-denied':
        Object.assign(call ?? {}, { error: event.reason, status: 'denied' })
    }
  }
  return [...calls.values()]
}

/** The value itself while it is short, else the beginning of its JSON. */
function shorten (value: unknown, most: number): unknown {
  if (most === Infinity) return value
  const json = JSON.stringify(value) ?? ''
  return json.length <= most ? value : `${json.slice(0, most)}…`
}
