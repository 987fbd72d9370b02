import { metadataOf, type RunEvent } from '../../contracts/run-events.ts'
import { type Chunk, objectChunk, planChunks, retryChunks, sharedChunks, stoppedChunks } from './chunks.ts'

/**
 * Encodes an event of the documented stream: the events of the UI message stream protocol, with the additional fields of the documented
 * interface (`content` beside `delta`, `toolName` on every tool event) and with `step-boundary` between steps. Every `data:` line is JSON.
 */
export function encodeDocumented (event: RunEvent): Chunk[] {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return [{ type: event.type, id: event.id, delta: event.delta, content: event.delta }]
    case 'start':
      return [{ type: 'start', messageId: event.messageId, messageMetadata: metadataOf(event) }]
    case 'reasoning-start':
      return [{
        type: 'reasoning-start',
        id: event.id,
        providerMetadata: event.phase === 'analysis' ? { agent: { phase: 'analysis' } } : undefined
      }]
    case 'reasoning-end':
      return [{ type: 'reasoning-end', id: event.id }]
    case 'step-start':
      return [...event.step > 1 ? [{ type: 'step-boundary' }] : [], { type: 'start-step' }]
    case 'text-start':
      return [{ type: 'text-start', id: event.id }]
    case 'text-end':
      return [{ type: 'text-end', id: event.id }]
    case 'tool-input':
      return [{ type: 'tool-input-available', toolCallId: event.toolCallId, toolName: event.toolName, input: event.input }]
    case 'tool-input-error': {
      const { type, toolCallId, toolName, input, errorText } = event
      return [{ type, toolCallId, toolName, input, errorText }]
    }
    case 'tool-output':
      return [
        { type: 'tool-output-available', toolCallId: event.toolCallId, toolName: event.toolName, output: event.output },
        ...planChunks(event)
      ]
    case 'tool-error':
      return [{ type: 'tool-output-error', toolCallId: event.toolCallId, toolName: event.toolName, errorText: event.errorText }]
    case 'tool-denied':
      return [{ type: 'tool-output-denied', toolCallId: event.toolCallId, toolName: event.toolName, reason: event.reason }]
    case 'approval-request': {
      const { app, ...request } = event
      return [{ ...request, type: 'tool-approval-request' }]
    }
    case 'question-request':
    case 'tool-progress':
      return [event]
    case 'question-closed': {
      const { type, approvalId, toolCallId, state } = event
      return [{ type, approvalId, toolCallId, state }]
    }
    case 'tool-call-request': {
      const { type, toolCallId, toolName, input, expiresAt } = event
      return [{ type, toolCallId, toolName, input, expiresAt }]
    }
    case 'object':
      return [objectChunk(event)]
    case 'error':
      return [{ type: 'error', errorText: event.errorText, code: event.code, details: event.details }]
    case 'abort':
      return [{ type: 'abort', reason: event.reason }]
    case 'finish':
      return [...stoppedChunks(event), event]
    case 'retry':
      return retryChunks(event, true)
    default:
      return sharedChunks(event)
  }
}
