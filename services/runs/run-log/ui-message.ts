import type { Protocol } from '../../../schemas/agent.ts'
import { type EventOf, finishMetadataOf, isHeld, metadataOf, type RunEvent } from '../../contracts/run-events.ts'
import { PLAN_TOOL } from '../../contracts/model-texts.ts'
import { steeringMessagePart, steerPart } from '../../threads/index.ts'
import { PLAN_PART, REVISION_PART } from '../streams/event-line.ts'
import { withoutDroppedTries } from './cut-steps.ts'
import { steeringIn, steerOf, unreadIds } from './steering.ts'

/**
 * Joins the segments of a run to one, as chat clients read a message that they do not have: with one `start`, without the ends of the
 * earlier segments, and without what these waited for: their calls would look as if they still waited, and a client would execute the
 * calls of the application again. Clients of version 5 keep each request for approval as a data part of the message, so `ui5` has them.
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

/** The user's answer to an approval request. */
interface Answered {
  approvalId: string
  approved?: boolean
  reason?: string
}

/** For whom the message is, and what it needs beside the events. */
interface FoldOptions {
  ui5?: boolean
  ui7?: boolean
  answered?: Answered[]
  base?: Partial<UIAnswer>
}

export interface UIAnswer {
  id: string
  role: 'assistant'
  metadata: Record<string, unknown>
  parts: Part[]
  [field: string]: unknown
}

/**
 * Folds a run's events to the message that a chat client builds from the run's stream (see streams/ui.ts; `ui5` for clients of version 5,
 * `ui7` for newest ones of version 7), so that a chat loaded from the thread shows and sends back the same. `base` is the client's message
 * that the run continues. Clients differ in two points, for which a form is kept that all of them read: reasoning parts have no ids, and an
 * invalid call has its input both as `input` and as `rawInput`, with its metadata as `callProviderMetadata`. What the user said meanwhile
 * stands before the step that read it; what still waits, at the end; what was never read is no part of the message.
 */
export function foldToUIMessage (
  events: readonly RunEvent[],
  { ui5 = false, ui7 = false, answered = [], base }: FoldOptions = {}
): UIAnswer {
  const parts: Part[] = [...base?.parts ?? []]
  const open = new Map<string, Part>()
  const calls = new Map<string, Part>()
  let id = base?.id ?? ''
  let metadata: Record<string, unknown> = { ...base?.metadata }
  /** Chat clients stop reading at an error. */
  let hasFailed = false
  const unread = unreadIds(events)

  const begin = (key: string, part: Part) => {
    open.set(key, part)
    parts.push(part)
  }
  const end = (key: string, event: Meta) => {
    const part = open.get(key)
    if (part !== undefined) Object.assign(part, { state: 'done', ...meta(event) })
    open.delete(key)
  }
  const callOf = ({ toolCallId, toolName }: { toolCallId: string, toolName: string }): Part => {
    let part = calls.get(toolCallId)
    if (part === undefined) {
      part = { type: `tool-${toolName}`, toolCallId, state: 'input-streaming' }
      calls.set(toolCallId, part)
      parts.push(part)
    }
    return part
  }
  /** Sets the state of a call after its approval, with the user's answer to that. */
  const settle = (event: { toolCallId: string, toolName: string }, outcome: object) => {
    const part = callOf(event)
    const answer = answered.find(({ approvalId }) => approvalId === part.approval?.id)
    if (answer?.approved !== undefined) {
      part.approval = { id: answer.approvalId, approved: answer.approved, ...(answer.reason && { reason: answer.reason }) }
    }
    Object.assign(part, outcome)
  }

  /** Adds a data part; one with the same id replaces the earlier part, as in the client. */
  const putData = (part: Part) => {
    const known = parts.find(({ type, id }) => type === part.type && id === part.id)
    if (known === undefined) parts.push(part)
    else Object.assign(known, part)
  }

  for (const event of withoutDroppedTries(events)) {
    if (isHeld(event)) continue
    switch (event.type) {
      case 'start':
        hasFailed = false
        id = event.messageId
        metadata = { ...metadata, ...metadataOf(event) }
        break
      case 'error':
        hasFailed = true
        break
      case 'finish':
        if (!hasFailed) {
          metadata = { ...metadata, ...finishMetadataOf(event) }
        }
        if (!hasFailed && event.stopped) parts.push({ type: 'data-stopped', data: event.stopped })
        break
      case 'step-start':
        parts.push({ type: 'step-start' })
        break
      case 'text-start':
        begin(event.id, { type: 'text', text: '', state: 'streaming', ...meta(event) })
        break
      case 'reasoning-start':
        begin(event.id, { type: 'reasoning', text: '', state: 'streaming', ...meta(event.phase === 'analysis' ? ANALYSIS : event) })
        break
      case 'text-delta':
      case 'reasoning-delta': {
        const part = open.get(event.id)
        if (part !== undefined) Object.assign(part, { text: part.text + event.delta, ...meta(event) })
        break
      }
      case 'text-end':
      case 'reasoning-end':
        end(event.id, event)
        break
      case 'task':
        putData({ type: 'data-task', id: event.task.taskId, data: event.task })
        break
      case 'revision':
        putData({ type: 'data-revision', id: REVISION_PART, data: { text: event.text } })
        break
      case 'object':
        parts.push({ type: 'step-start' }, { type: 'data-object', id: OBJECT_PART, data: objectData(event) })
        break
      case 'tool-input-start':
        callOf(event)
        break
      case 'tool-input':
        Object.assign(callOf(event), { ...!event.app && { state: 'input-available' }, input: event.input, ...calledWith(event) })
        break
      case 'tool-call-request':
        settle(event, { state: 'input-available', input: event.input })
        break
      case 'tool-input-error':
        settle(event, {
          state: 'output-error',
          input: event.input,
          rawInput: event.input,
          errorText: event.errorText,
          ...calledWith(event)
        })
        break
      case 'tool-output':
        settle(event, { state: 'output-available', output: shownOutput(event) })
        if (event.toolName === PLAN_TOOL) putData({ type: 'data-plan', id: PLAN_PART, data: event.output })
        break
      case 'tool-error':
        settle(event, { state: 'output-error', errorText: event.errorText })
        break
      case 'tool-denied':
        settle(
          event,
          event.approvalId === undefined || ui5 ? { state: 'output-error', errorText: event.reason } : { state: 'output-denied' }
        )
        break
      case 'approval-request': {
        const { approvalId } = event
        if (ui5) putData({ type: 'data-approval-request', id: approvalId, data: requestData(event) })
        else {
          Object.assign(callOf(event), { state: 'approval-requested', approval: { id: approvalId } })
          putData(approvalPart(event))
        }
        break
      }
      case 'question-request':
      case 'question-closed':
        putData(approvalPart(event))
        break
      case 'steer':
        if (event.state === 'read' && !unread.has(event.id)) putData(ui7 ? steeringMessagePart(event) : steerPart(steerOf(event)))
        break
      default:
        // Other events are not part of the message.
    }
  }
  for (const said of steeringIn(events)) if (said.state === 'waiting') putData(steerPart(steerOf(said)))
  return { ...base, id, role: 'assistant', metadata, parts }
}

/** Marks the analysis, to distinguish it from the model's reasoning when the client sends it back. */
export const ANALYSIS = { providerMetadata: { agent: { phase: 'analysis' } } }

interface Meta {
  providerMetadata?: object
}
const meta = ({ providerMetadata }: Meta) => providerMetadata ? { providerMetadata } : {}

/** The id of the part that holds the structured answer of a run. */
export const OBJECT_PART = 'object'
export const objectData = ({ object, attempts }: EventOf<'object'>) => ({ object, attempts })

/** Returns the data part of an approval request, for clients of version 5 and for calls of the application. */
export const requestData = ({ type, app, ...request }: EventOf<'approval-request'>) => request

/** Returns the data part of what waits for the user, with the names that `GET /approvals` gives its fields. */
export function approvalPart (event: EventOf<'approval-request' | 'question-request' | 'question-closed'>): Part {
  const { type, reason, app, ...data } = { reason: undefined, app: undefined, ...event }
  return {
    type: 'data-approval',
    id: event.approvalId,
    data: { kind: type === 'approval-request' ? 'tool' : 'question', ...data, ...(reason !== undefined && { note: reason }) }
  }
}

/** Returns an output as chat clients show it. */
export const shownOutput = ({ output, isWrapped }: EventOf<'tool-output'>): unknown => isWrapped ? output.result : output

const calledWith = ({ providerMetadata }: { providerMetadata?: object }) =>
  providerMetadata ? { callProviderMetadata: providerMetadata } : {}
