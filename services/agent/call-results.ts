import { isObject } from '../lib/json.ts'
import type { AppResult } from '../approvals/index.ts'
import { isId } from '../lib/ids.ts'
import type { AnswerSource } from './approval-answers.ts'

/** The result that a request gives of a call; the ledger knows whether the call is one of the application. */
export interface CallResult {
  /** The id of the call, which is also the id of its item in the ledger. */
  approvalId: string
  result: AppResult
}

/** The number of results in one request that are looked up; each costs a read. */
const MAX_RESULTS = 1000

const list = (value: unknown): any[] => Array.isArray(value) ? value : []

/** Outputs are objects; chat clients may give any value. */
const wrapped = (value: unknown): AppResult =>
  isObject(value) ? { output: value } : { output: { result: value ?? null }, isWrapped: true }

/**
 * Returns the results of calls in the last message of a request, or in the assistant's message that a chat client continues: parts with
 * an output in its newest step, or, in a message with role `tool`, the results. Their calls may be of any tool.
 */
export function callResults ({ messages, messageId, trigger }: AnswerSource): CallResult[] {
  if (trigger === 'regenerate-message') return []
  const continued = messageId === undefined ? undefined : messages.findLast(({ id, role }) => id === messageId && role === 'assistant')
  const { role, content, parts } = continued ?? messages.at(-1) ?? {}
  const results = role === 'assistant' ? ofNewestStep(list(parts)).flatMap(ofPart) : role === 'tool' ? list(content).flatMap(ofResult) : []
  return results.filter(({ approvalId }) => isId(approvalId)).slice(-MAX_RESULTS)
}

const ofNewestStep = (parts: any[]) => parts.slice(parts.findLastIndex((part) => part?.type === 'step-start') + 1)

/** Of a chat client's tool part. */
function ofPart (part: any): CallResult[] {
  const { toolCallId: approvalId, state } = part ?? {}
  if (state === 'output-available') return [{ approvalId, result: wrapped(part.output) }]
  if (state === 'output-error') return [{ approvalId, result: { errorText: asText(part.errorText) } }]
  return []
}

/** Of a part `tool-result`, as in the SDK's ModelMessages. */
function ofResult (part: any): CallResult[] {
  if (part?.type !== 'tool-result') return []
  const { toolCallId: approvalId, output } = part
  switch (output?.type) {
    case 'json':
    case 'text':
    case 'content':
      return [{ approvalId, result: wrapped(output.value) }]
    case 'error-text':
    case 'error-json':
    case 'execution-denied':
      return [{ approvalId, result: { errorText: asText(output.value ?? output.reason) } }]
    default:
      return []
  }
}

const asText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)) || 'The application reported an error.'
