import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { finishMetadataOf, metadataOf, type RunEvent } from '../../contracts/run-events.ts'
import { steeringMessagePart } from '../../threads/index.ts'
import { ANALYSIS, approvalPart, OBJECT_PART, objectData, shownOutput, requestData } from '../run-log/ui-message.ts'
import { eventLine, planLine, retryLine, sharedLine, stoppedLine } from './event-line.ts'

/**
 * Renders an event of the AI SDK's UI message stream. Clients before 5.0.217, 6.0.231 and 7.0.32 refuse a chunk with an unknown key, and
 * all clients refuse an unknown type, so each chunk contains only keys that the oldest client accepts. For this reason the
 * finish reason, which clients before 5.0.92 refuse, is sent as message metadata.
 */
export function renderUI (event: RunEvent): string {
  switch (event.type) {
    // Text deltas are by far the most frequent events, so their JSON is assembled by hand.
    case 'text-delta':
      return event.providerMetadata
        ? eventLine({ type: 'text-delta', id: event.id, delta: event.delta, ...meta(event) })
        : `data: {"type":"text-delta","id":"${event.id}","delta":${JSON.stringify(event.delta)}}\n\n`
    case 'reasoning-delta':
      return eventLine({ type: 'reasoning-delta', id: event.id, delta: event.delta, ...meta(event) })
    case 'start':
      return eventLine({ type: 'start', messageId: event.messageId, messageMetadata: metadataOf(event) })
    case 'reasoning-start':
      return eventLine({ type: 'reasoning-start', id: event.id, ...meta(event.phase === 'analysis' ? ANALYSIS : event) })
    case 'reasoning-end':
      return eventLine({ type: 'reasoning-end', id: event.id, ...meta(event) })
    case 'step-start':
      return eventLine({ type: 'start-step' })
    case 'text-start':
      return eventLine({ type: 'text-start', id: event.id, ...meta(event) })
    case 'text-end':
      return eventLine({ type: 'text-end', id: event.id, ...meta(event) })
    case 'tool-input':
      return event.app ? '' : inputAvailable(event)
    case 'tool-call-request':
      return inputAvailable(event)
    case 'tool-input-error': {
      const { type, toolCallId, toolName, input, errorText } = event
      return eventLine({ type, toolCallId, toolName, input, errorText, ...meta(event) })
    }
    case 'tool-output':
      return eventLine({ type: 'tool-output-available', toolCallId: event.toolCallId, output: shownOutput(event) }) + planLine(event)
    case 'tool-error':
      return eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.errorText })
    // Clients expect the user's answer in a denied part; a denial without an answer is therefore sent as an error.
    case 'tool-denied':
      return event.approvalId === undefined
        ? eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason })
        : eventLine({ type: 'tool-output-denied', toolCallId: event.toolCallId })
    case 'approval-request':
      return (event.app ? inputBegun(event) : '') +
        eventLine({ type: 'tool-approval-request', approvalId: event.approvalId, toolCallId: event.toolCallId }) +
        eventLine(approvalPart(event))
    case 'question-request':
    case 'question-closed':
      return eventLine(approvalPart(event))
    // In a step of its own: chats that continue by themselves do so when the last step ends with the output of a tool.
    case 'object':
      return eventLine({ type: 'start-step' }) + eventLine({ type: 'data-object', id: OBJECT_PART, data: objectData(event) }) +
        eventLine({ type: 'finish-step' })
    case 'error':
      return eventLine({ type: 'error', errorText: event.errorText })
    case 'abort':
      return eventLine({ type: 'abort' })
    case 'finish':
      return stoppedLine(event) + eventLine({ type: 'finish', messageMetadata: finishMetadataOf(event) })
    case 'tool-progress': {
      const { type, ...data } = event
      return eventLine({ type: 'data-tool-progress', data, transient: true })
    }
    case 'retry':
      return retryLine(event, false)
    default:
      return sharedLine(event)
  }
}

interface WithInput {
  toolCallId: string
  toolName: string
  input: unknown
  providerMetadata?: SharedV4ProviderMetadata
}
const inputAvailable = ({ toolCallId, toolName, input, ...event }: WithInput) =>
  eventLine({ type: 'tool-input-available', toolCallId, toolName, input, ...meta(event) })

/**
 * Returns the input of a call of the application that is not to be executed yet: chats execute a call at `tool-input-available`. It is
 * begun anew, because a model's own pieces may be missing, or differ from the input that is approved.
 */
const inputBegun = ({ toolCallId, toolName, input }: WithInput) =>
  eventLine({ type: 'tool-input-start', toolCallId, toolName }) +
  eventLine({ type: 'tool-input-delta', toolCallId, inputTextDelta: JSON.stringify(input) })

/** Returns the provider's metadata, such as a reasoning signature, which the provider requires back in the next request. */
const meta = ({ providerMetadata }: { providerMetadata?: SharedV4ProviderMetadata }) => providerMetadata ? { providerMetadata } : {}

/**
 * Renders an event of the UI message stream for clients of version 5, which know no approvals: an approval request is a data part, to be
 * answered with `POST /run/approve`, and a denial is a tool error.
 */
export function renderUI5 (event: RunEvent): string {
  switch (event.type) {
    // With the id, a request that is sent again replaces its earlier part.
    case 'approval-request':
      return eventLine({ type: 'data-approval-request', id: event.approvalId, data: requestData(event) })
    case 'tool-denied':
      return eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason })
    // Clients before 5.0.7 do not know `tool-input-error`.
    case 'tool-input-error': {
      const { toolCallId, errorText } = event
      return renderUI({ ...event, type: 'tool-input' }) + eventLine({ type: 'tool-output-error', toolCallId, errorText })
    }
    default:
      return renderUI(event)
  }
}

/** Renders an event of the UI message stream: what the user said to a run and a step has read, as the own chunk of newest 7.x clients. */
export const renderUI7 = (event: RunEvent): string =>
  event.type === 'steer' && event.state === 'read' ? eventLine(steeringMessagePart(event)) : renderUI(event)
