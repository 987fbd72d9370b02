import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Stopped } from '../../../schemas/stopped.ts'
import { type EventOf, finishMetadataOf, metadataOf, type RunEvent } from '../../contracts/run-events.ts'
import { steeringMessagePart } from '../../threads/index.ts'
import { type Chunk, objectChunk, planChunks, retryChunks, sharedChunks, stoppedChunks } from './chunks.ts'

/** Marks the analysis, so that it can be distinguished from the model's reasoning when the client sends it back. */
const ANALYSIS = { providerMetadata: { agent: { phase: 'analysis' } } }

/**
 * Encodes an event for the AI SDK's UI message stream. Clients before 5.0.217, 6.0.231 and 7.0.32 refuse a chunk with an unknown key, and
 * all clients refuse an unknown type, so each chunk contains only keys that the oldest client accepts. For this reason, the finish reason,
 * which clients before 5.0.92 refuse, is sent as message metadata.
 */
export function encodeUI (event: RunEvent): Chunk[] {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return [{ type: event.type, id: event.id, delta: event.delta, ...meta(event) }]
    // Chats merge metadata, so a field can be replaced, but not removed.
    case 'start': {
      const messageMetadata = { ...metadataOf(event), ...event.wasStopped && { stopped: null } }
      return [{ type: 'start', messageId: event.messageId, messageMetadata }]
    }
    case 'reasoning-start':
      return [{ type: 'reasoning-start', id: event.id, ...meta(event.phase === 'analysis' ? ANALYSIS : event) }]
    case 'step-start':
      return [{ type: 'start-step' }]
    case 'text-start':
      return [{ type: 'text-start', id: event.id, ...meta(event) }]
    case 'text-end':
    case 'reasoning-end':
      return [{ type: event.type, id: event.id, ...meta(event) }]
    case 'tool-input':
      return event.app ? [] : [inputAvailable(event)]
    case 'tool-call-request':
      return [inputAvailable(event)]
    case 'tool-input-error': {
      const { type, toolCallId, toolName, input, errorText } = event
      return [{ type, toolCallId, toolName, input, errorText, ...meta(event) }]
    }
    case 'tool-output':
      return [{ type: 'tool-output-available', toolCallId: event.toolCallId, output: shownOutput(event) }, ...planChunks(event)]
    case 'tool-error':
      return [{ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.errorText }]
    // Clients expect the user's answer in a denied part, so a denial without an answer is sent as an error.
    case 'tool-denied':
      return [
        event.approvalId === undefined
          ? { type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason }
          : { type: 'tool-output-denied', toolCallId: event.toolCallId }
      ]
    case 'approval-request':
      return [
        ...event.app ? inputBegun(event) : [],
        { type: 'tool-approval-request', approvalId: event.approvalId, toolCallId: event.toolCallId },
        approvalChunk(event)
      ]
    case 'question-request':
    case 'question-closed':
      return [approvalChunk(event)]
    // The object has a step of its own, because chats that continue automatically do so if the last step ends with a tool output.
    case 'object':
      return [{ type: 'start-step' }, objectChunk(event), { type: 'finish-step' }]
    // Chats stop reading at an error and do not keep it, so its text goes ahead as metadata of the message.
    case 'error': {
      const stopped: Stopped = { reason: 'failed', text: event.errorText }
      return [
        ...event.isEnd ? [{ type: 'message-metadata', messageMetadata: { stopped } }] : [],
        { type: 'error', errorText: event.errorText }
      ]
    }
    case 'abort':
      return [{ type: 'abort' }]
    case 'finish':
      return [...stoppedChunks(event), { type: 'finish', messageMetadata: finishMetadataOf(event) }]
    case 'tool-progress': {
      const { type, ...data } = event
      return [{ type: 'data-tool-progress', data, transient: true }]
    }
    case 'retry':
      return retryChunks(event, false)
    default:
      return sharedChunks(event)
  }
}

interface WithInput {
  toolCallId: string
  toolName: string
  input: unknown
  providerMetadata?: SharedV4ProviderMetadata
}
const inputAvailable = ({ toolCallId, toolName, input, ...event }: WithInput): Chunk =>
  ({ type: 'tool-input-available', toolCallId, toolName, input, ...meta(event) })

/**
 * Returns the input of an application's call that must not be executed yet, as a delta: chats execute a call at `tool-input-available`. The
 * call is begun again, because the model's own deltas might be missing or differ from the approved input.
 */
const inputBegun = ({ toolCallId, toolName, input }: WithInput): Chunk[] => [
  { type: 'tool-input-start', toolCallId, toolName },
  { type: 'tool-input-delta', toolCallId, inputTextDelta: JSON.stringify(input) }
]

/** Returns the provider's metadata, such as a reasoning signature, which the provider requires in the next request. */
const meta = ({ providerMetadata }: { providerMetadata?: SharedV4ProviderMetadata }) => providerMetadata ? { providerMetadata } : {}

/**
 * Encodes an event of the UI message stream for clients of AI SDK 5, which have no approvals. An approval request is a data part, which is
 * answered with `POST /run/approve`, and a denial is a tool error.
 */
export function encodeUI5 (event: RunEvent): Chunk[] {
  switch (event.type) {
    // Because of the id, a request that is sent again replaces its earlier part.
    case 'approval-request':
      return [{ type: 'data-approval-request', id: event.approvalId, data: requestData(event) }]
    case 'tool-denied':
      return [{ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason }]
    // Clients before 5.0.7 do not know `tool-input-error`.
    case 'tool-input-error': {
      const { toolCallId, errorText } = event
      return [...encodeUI({ ...event, type: 'tool-input' }), { type: 'tool-output-error', toolCallId, errorText }]
    }
    default:
      return encodeUI(event)
  }
}

/**
 * Encodes an event of the UI message stream for the newest clients of AI SDK 7: a message of the user that a step has read is a chunk of
 * the type `steering-message`.
 */
export const encodeUI7 = (event: RunEvent): Chunk[] =>
  event.type === 'steer' && event.state === 'read' ? [steeringMessagePart(event)] : encodeUI(event)

/** Returns the data of an approval request, for clients of AI SDK 5. */
const requestData = ({ type, app, ...request }: EventOf<'approval-request'>) => request

/** Returns the data part for an item that waits for the user. The fields have the same names as in `GET /approvals`. */
function approvalChunk (event: EventOf<'approval-request' | 'question-request' | 'question-closed'>): Chunk {
  const { type, reason, app, ...data } = { reason: undefined, app: undefined, ...event }
  return {
    type: 'data-approval',
    id: event.approvalId,
    data: { kind: type === 'approval-request' ? 'tool' : 'question', ...data, ...(reason !== undefined && { note: reason }) }
  }
}

/** Returns an output in the form that chat clients show. */
const shownOutput = ({ output, isWrapped }: EventOf<'tool-output'>): unknown => isWrapped ? output.result : output
