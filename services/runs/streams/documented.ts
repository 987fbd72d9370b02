import { metadataOf, type RunEvent } from '../../contracts/run-events.ts'
import { OBJECT_PART, objectData } from '../run-log/ui-message.ts'
import { eventLine, planLine, retryLine, sharedLine, stoppedLine } from './event-line.ts'

/**
 * Renders an event of the documented stream: the events of the UI message stream protocol, with the additional fields of the documented
 * interface (`content` beside `delta`, `toolName` on every tool event) and with `step-boundary` between steps. Every `data:` line is JSON.
 */
export function renderDocumented (event: RunEvent): string {
  switch (event.type) {
    // Deltas are by far the most frequent events, so their JSON is assembled by hand.
    case 'text-delta':
      return delta('text-delta', event.id, event.delta)
    case 'reasoning-delta':
      return delta('reasoning-delta', event.id, event.delta)
    case 'start':
      return eventLine({ type: 'start', messageId: event.messageId, messageMetadata: metadataOf(event) })
    case 'reasoning-start':
      return eventLine({
        type: 'reasoning-start',
        id: event.id,
        providerMetadata: event.phase === 'analysis' ? { agent: { phase: 'analysis' } } : undefined
      })
    case 'reasoning-end':
      return eventLine({ type: 'reasoning-end', id: event.id })
    case 'step-start':
      return (event.step > 1 ? eventLine({ type: 'step-boundary' }) : '') + eventLine({ type: 'start-step' })
    case 'text-start':
      return eventLine({ type: 'text-start', id: event.id })
    case 'text-end':
      return eventLine({ type: 'text-end', id: event.id })
    case 'tool-input':
      return eventLine({ type: 'tool-input-available', toolCallId: event.toolCallId, toolName: event.toolName, input: event.input })
    case 'tool-input-error': {
      const { type, toolCallId, toolName, input, errorText } = event
      return eventLine({ type, toolCallId, toolName, input, errorText })
    }
    case 'tool-output':
      return eventLine({ type: 'tool-output-available', toolCallId: event.toolCallId, toolName: event.toolName, output: event.output }) +
        planLine(event)
    case 'tool-error':
      return eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, toolName: event.toolName, errorText: event.errorText })
    case 'tool-denied':
      return eventLine({ type: 'tool-output-denied', toolCallId: event.toolCallId, toolName: event.toolName, reason: event.reason })
    case 'approval-request': {
      const { app, ...request } = event
      return eventLine({ ...request, type: 'tool-approval-request' })
    }
    case 'question-request':
    case 'tool-progress':
      return eventLine(event)
    case 'question-closed': {
      const { type, approvalId, toolCallId, state } = event
      return eventLine({ type, approvalId, toolCallId, state })
    }
    case 'tool-call-request': {
      const { type, toolCallId, toolName, input, expiresAt } = event
      return eventLine({ type, toolCallId, toolName, input, expiresAt })
    }
    case 'object':
      return eventLine({ type: 'data-object', id: OBJECT_PART, data: objectData(event) })
    case 'error':
      return eventLine({ type: 'error', errorText: event.errorText, code: event.code, details: event.details })
    case 'abort':
      return eventLine({ type: 'abort', reason: event.reason })
    case 'finish':
      return stoppedLine(event) + eventLine(event)
    case 'retry':
      return retryLine(event, true)
    default:
      return sharedLine(event)
  }
}

/** `id` is an id of the service, which needs no escapes. */
function delta (type: string, id: string, text: string) {
  const quoted = JSON.stringify(text)
  return `data: {"type":"${type}","id":"${id}","delta":${quoted},"content":${quoted}}\n\n`
}
