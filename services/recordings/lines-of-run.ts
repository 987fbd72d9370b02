import type { Approval, TaskChoice } from '../contracts/approval-record.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { type RunRecord, withoutDroppedTries } from '../runs/index.ts'
import type { AnswerLine, ApprovalLine, CallLine, EndLine, Line } from './recording.ts'

/** An item of the ledger that a run asked for. */
export type RunItem = Exclude<Approval, TaskChoice>
type Outcome = Extract<RunEvent, { type: 'tool-output' | 'tool-error' | 'tool-denied' }>

/** Final statuses of runs whose last model call might have been cut off. */
const CUT = ['stopped', 'cancelled', 'interrupted', 'failed']

/**
 * Returns the lines of a recording about a run, made from its events and items. The line of an answer comes after everything that was
 * new to the model, and before the outcomes of the calls in that answer. Lines are written as JSON, which drops undefined fields.
 */
export function linesOfRun (stored: readonly RunEvent[], items: readonly RunItem[], record: RunRecord): Line[] {
  const events = withoutDroppedTries(stored)
  const lines: Line[] = []
  const calls = new Map<string, Pick<CallLine, 'toolName' | 'input'> & { isApp: boolean }>()
  const granted = new Set(events.flatMap((event) => event.type === 'tool-intent' && event.grantId !== undefined ? [event.toolCallId] : []))
  let answer: AnswerLine | undefined
  let isWhole = true

  const askedOf = (toolCallId: string) =>
    items.filter((item) => item.kind !== 'result' && item.kind !== 'app' && item.toolCallId === toolCallId)

  function callLine (event: Outcome): CallLine {
    const { toolCallId: id, toolName } = event
    const { input, isApp } = calls.get(id) ?? { input: undefined, isApp: false }
    const isAnswered = askedOf(id).some((item) => item.kind === 'question' && item.live === undefined)
    const by: CallLine['by'] = isApp ? 'app' : granted.has(id) ? 'grant' : isAnswered ? 'user' : undefined
    return {
      type: 'call',
      id,
      toolName,
      input,
      output: event.type === 'tool-output' ? event.output : undefined,
      error: event.type === 'tool-error' ? event.errorText : undefined,
      denied: event.type === 'tool-denied' ? event.reason : undefined,
      by,
      changes: 'changes' in event ? event.changes : undefined,
      durationMs: 'durationMs' in event ? event.durationMs : undefined
    }
  }

  for (const event of events) {
    switch (event.type) {
      case 'context': {
        const { system, tools, deferred } = event.context
        // The first step might have begun before: its answer line must follow the context.
        const at = lines.at(-1) === answer ? lines.length - 1 : lines.length
        lines.splice(at, 0, { type: 'context', system, tools, deferred })
        break
      }
      case 'aside':
        lines.push({ type: 'aside', name: event.name, text: event.text, usage: event.usage })
        break
      case 'step-start':
        answer = { type: 'answer' }
        isWhole = false
        lines.push(answer)
        break
      case 'text-delta':
        if (answer !== undefined) answer.text = (answer.text ?? '') + event.delta
        break
      case 'reasoning-delta':
        if (answer !== undefined && event.id !== 'analysis') answer.reasoning = (answer.reasoning ?? '') + event.delta
        break
      case 'tool-input':
      case 'tool-input-error': {
        const { toolCallId: id, toolName, input } = event
        calls.set(id, { toolName, input, isApp: event.type === 'tool-input' && event.app === true })
        if (answer !== undefined) (answer.toolCalls ??= []).push({ id, toolName, input })
        if (event.type === 'tool-input-error') lines.push({ type: 'call', id, toolName, input, error: event.errorText, isInvalid: true })
        isWhole = true
        break
      }
      case 'step-finish':
        if (answer !== undefined) Object.assign(answer, { finishReason: event.finishReason, usage: event.usage })
        isWhole = true
        break
      case 'tool-output':
      case 'tool-error':
      case 'tool-denied':
        lines.push(...askedOf(event.toolCallId).flatMap(approvalLine), callLine(event))
        break
      case 'message':
        lines.push({ type: 'message', from: event.isReview ? 'review' : event.isRetry ? 'service' : 'user', text: event.text })
        break
      case 'steer':
        if (event.state === 'read') lines.push({ type: 'message', from: 'user', text: event.text })
        break
      case 'error':
        if (answer !== undefined && !isWhole) answer.failure = { code: event.code, message: event.errorText }
        break
      default:
        // Other events add nothing to the lines.
    }
  }
  if (answer !== undefined && !isWhole && answer.failure === undefined && CUT.includes(record.status)) answer.isCut = true
  // The events of a task do not include a step whose model call failed, so its line is added.
  const isFailedCall = record.taskId !== undefined && record.status === 'failed' && (answer?.toolCalls?.length ?? 1) > 0
  if (isFailedCall) lines.push({ type: 'answer', failure: { code: 'ERR_PROVIDER_FAILED', message: record.error ?? '' } })
  const ended = new Set(lines.flatMap((line) => line.type === 'call' ? [line.id] : []))
  const left = items.filter((item) => item.kind === 'result' || (item.kind !== 'app' && !ended.has(item.toolCallId)))
  return [...lines, ...left.flatMap(approvalLine), endLine(events, record)]
}

/**
 * Returns the line about an item, with the question and the decision; [] for a call of the application, and for
 * an item that the run itself withdrew, for example to ask for it again.
 */
function approvalLine (item: RunItem): ApprovalLine[] {
  if (item.kind === 'app' || (item.kind === 'tool' && item.replacedBy !== undefined)) return []
  const { kind, reason } = item
  const isAnswered = item.decidedAt !== undefined
  const approved = item.kind === 'question' ? isAnswered ? item.answers !== undefined : undefined : item.approved
  return [{
    type: 'approval',
    kind,
    call: item.kind === 'result' ? undefined : item.toolCallId,
    toolName: item.kind === 'tool' ? item.toolName : undefined,
    isContextual: item.kind === 'tool' && item.because ? true : undefined,
    approved,
    reason,
    input: item.kind === 'tool' ? item.correctedInput : undefined,
    answers: item.kind === 'question' ? item.answers : undefined
  }]
}

function endLine (events: readonly RunEvent[], record: RunRecord): EndLine {
  const { status, output, object, error, stopped, usage, durationMs, evaluation } = record
  const failure = events.findLast((event) => event.type === 'error')
  const code = status === 'failed' ? failure?.code : undefined
  const failed = error === undefined ? undefined : { message: error, code }
  return { type: 'end', status, output, object, error: failed, stopped, evaluation, usage, durationMs }
}
