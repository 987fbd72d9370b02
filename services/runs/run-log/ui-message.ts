import type { Protocol } from '../../../schemas/agent.ts'
import { isHeld, type RunEvent } from '../../contracts/run-events.ts'
import { type Answered, steerPart } from '../../threads/index.ts'
import type { Chunk, Encode } from '../streams/chunks.ts'
import { withoutDroppedTries } from './cut-steps.ts'
import { steeringIn, steerOf, unreadIds } from './steering.ts'

/**
 * Joins the segments of a run (its parts between waits for a person) into one, for chat clients that do not have the message yet. The
 * result has one `start`, and no ends of earlier segments. It also lacks the requests of earlier segments: with them, answered calls would
 * look as if they waited, and a client would execute the calls of the application again. Clients of AI SDK 5 keep each approval request as
 * a data part of the message, so in `ui5` they still get these requests.
 */
export function wholeMessage (events: readonly RunEvent[], protocol: Protocol): RunEvent[] {
  const all = withoutDroppedTries(events)
  const kept = all.slice(all.findIndex(({ type }) => type === 'start'))
  const newest = kept.findLastIndex(({ type }) => type === 'start')
  const isPart = ({ type }: RunEvent, at: number) => {
    switch (type) {
      case 'start':
        return at === 0
      case 'approval-request':
      case 'question-request':
      case 'question-closed':
        return at > newest || protocol === 'ui5'
      case 'tool-call-request':
      case 'finish':
      case 'error':
      case 'abort':
        return at > newest
      default:
        return true
    }
  }
  return kept.filter(isPart)
}

/** A part of a chat client's message. */
type Part = { type: string, [field: string]: any }

export interface UIAnswer {
  id: string
  role: 'assistant'
  metadata: Record<string, unknown>
  parts: Part[]
  [field: string]: unknown
}

/** A message that is made from the chunks of a stream. */
interface Reading {
  message: UIAnswer
  open: Map<string, Part>
  calls: Map<string, Part>
  answered: readonly Answered[]
  /** Whether an `error` chunk has arrived. Chat clients stop reading there. */
  hasFailed: boolean
}

/**
 * Makes the message that a chat client builds from the run's stream, so that a chat that is loaded from the thread shows and sends back the
 * same message. `encode` encodes the events, `base` is the client's message that the run continues, and `answered` are the user's answers
 * to approval requests, which the stream does not repeat. Clients differ in two points; for both, the result has a form that all clients
 * read. Reasoning parts have no ids. An invalid call has its input both as `input` and as `rawInput`, with its metadata as
 * `callProviderMetadata`. A message of the user during the run is placed before the step that read it, a waiting message at the end; a
 * message that was never read is left out.
 */
export function foldToUIMessage (
  events: readonly RunEvent[],
  { encode, answered = [], base }: { encode: Encode, answered?: readonly Answered[], base?: Partial<UIAnswer> }
): UIAnswer {
  const message: UIAnswer = {
    ...base,
    id: base?.id ?? '',
    role: 'assistant',
    metadata: { ...base?.metadata },
    parts: [...base?.parts ?? []]
  }
  const reading: Reading = { message, open: new Map(), calls: new Map(), answered, hasFailed: false }
  const unread = unreadIds(events)
  for (const event of withoutDroppedTries(events)) {
    if (isHeld(event) || (event.type === 'steer' && (event.state !== 'read' || unread.has(event.id)))) continue
    // Streams send the input of an application's call only as deltas at first, so that no chat executes the call too early.
    if (event.type === 'tool-input' && event.app) setCall(reading, event, { input: event.input, ...calledWith(event) })
    for (const chunk of encode(event)) readChunk(reading, chunk)
  }
  for (const steer of steeringIn(events)) if (steer.state === 'waiting') putPart(reading, steerPart(steerOf(steer)))
  return message
}

/** Adds a part. As in chat clients, the part replaces an earlier part of the same type and id. */
function putPart ({ message: { parts } }: Reading, part: Part): void {
  const known = part.id === undefined ? undefined : parts.find(({ type, id }) => type === part.type && id === part.id)
  if (known === undefined) parts.push(part)
  else Object.assign(known, part)
}

/** Changes the part of a call, and adds the user's answer to the call's approval request. */
function setCall ({ message, calls, answered }: Reading, { toolCallId, toolName }: Chunk, changes: object): void {
  let part = calls.get(toolCallId)
  if (part === undefined) {
    part = { type: `tool-${toolName}`, toolCallId, state: 'input-streaming' }
    calls.set(toolCallId, part)
    message.parts.push(part)
  }
  const answer = part.approval && answered.find(({ approvalId }) => approvalId === part.approval.id)
  if (answer?.approved !== undefined) {
    part.approval = { id: answer.approvalId, approved: answer.approved, ...(answer.reason && { reason: answer.reason }) }
  }
  Object.assign(part, changes)
}

/** Reads a chunk as chat clients do. */
function readChunk (reading: Reading, chunk: Chunk): void {
  const { message, open } = reading
  switch (chunk.type) {
    case 'start': {
      // An answer that is continued has not stopped.
      const { stopped: _, ...metadata } = { ...message.metadata, ...chunk.messageMetadata }
      reading.hasFailed = false
      message.id = chunk.messageId
      message.metadata = metadata
      return
    }
    case 'error':
      reading.hasFailed = true
      return
    case 'message-metadata':
    case 'finish':
      if (!reading.hasFailed) Object.assign(message.metadata, chunk.messageMetadata)
      return
    case 'start-step':
      message.parts.push({ type: 'step-start' })
      return
    case 'text-start':
    case 'reasoning-start': {
      const part = { type: chunk.type === 'text-start' ? 'text' : 'reasoning', text: '', state: 'streaming', ...meta(chunk) }
      open.set(chunk.id, part)
      message.parts.push(part)
      return
    }
    case 'text-delta':
    case 'reasoning-delta': {
      const part = open.get(chunk.id)
      if (part !== undefined) Object.assign(part, { text: part.text + chunk.delta, ...meta(chunk) })
      return
    }
    case 'text-end':
    case 'reasoning-end':
      Object.assign(open.get(chunk.id) ?? {}, { state: 'done', ...meta(chunk) })
      open.delete(chunk.id)
      return
    case 'tool-input-start':
      return setCall(reading, chunk, {})
    case 'tool-input-available':
      return setCall(reading, chunk, { state: 'input-available', input: chunk.input, ...calledWith(chunk) })
    case 'tool-input-error': {
      const { input, errorText } = chunk
      return setCall(reading, chunk, { state: 'output-error', input, rawInput: input, errorText, ...calledWith(chunk) })
    }
    case 'tool-output-available':
      return setCall(reading, chunk, { state: 'output-available', output: chunk.output })
    case 'tool-output-error':
      return setCall(reading, chunk, { state: 'output-error', errorText: chunk.errorText })
    case 'tool-output-denied':
      return setCall(reading, chunk, { state: 'output-denied' })
    case 'tool-approval-request':
      return setCall(reading, chunk, { state: 'approval-requested', approval: { id: chunk.approvalId } })
    default:
      if (isPart(chunk) && !(reading.hasFailed && chunk.type === 'data-stopped')) putPart(reading, chunk)
  }
}

const isPart = ({ type, transient }: Chunk) => type === 'steering-message' || (type.startsWith('data-') && transient !== true)

const meta = ({ providerMetadata }: Chunk) => providerMetadata ? { providerMetadata } : {}
const calledWith = ({ providerMetadata }: Chunk) => providerMetadata ? { callProviderMetadata: providerMetadata } : {}
