import { Check } from '@sinclair/typebox/value'
import { ScopeSchema, UntilSchema } from '../../schemas/grants.ts'
import { type AppResult, isAnswers, REASON_KEPT } from '../approvals/index.ts'
import type { Decision } from '../contracts/approval-record.ts'
import { BadMessage, type RawMessage } from '../threads/index.ts'
import { isObject } from '../lib/json.ts'
import { isId } from '../lib/ids.ts'

/**
 * The fields of a request that decide whether the request answers approval requests. `messageId` is the message that a chat client
 * continues.
 */
export interface AnswerSource {
  messages: RawMessage[]
  messageId?: unknown
  trigger?: unknown
}

interface Answers {
  decisions: Decision[]
  /** True if the decisions are all decisions in a chat message, including those of earlier steps. */
  includesOlder: boolean
}

/** The most decisions in one request. Each costs a read of the store. */
const MAX_DECISIONS = 1000

const list = (value: unknown): any[] => Array.isArray(value) ? value : []
const isResponse = (part: any) => part?.type === 'tool-approval-response'
const isResponded = (part: any) => part?.state === 'approval-responded'

const holdsResponse = ({ role, content, parts }: RawMessage) =>
  role === 'tool'
    ? list(content).some(isResponse)
    : role === 'assistant' && list(parts).some(isResponded)

/** Returns the index of the message that answers approval requests; -1 if the request is a new message. */
function answeringMessage ({ messages, messageId, trigger }: AnswerSource): number {
  if (trigger === 'regenerate-message') return -1
  const continued = messageId === undefined ? -1 : messages.findLastIndex(({ id, role }) => id === messageId && role === 'assistant')
  return [continued, messages.length - 1].find((at) => at >= 0 && holdsResponse(messages[at])) ?? -1
}

/** True if a request answers an approval request. */
export const isAnswer = (source: AnswerSource): boolean => answeringMessage(source) !== -1

/**
 * Returns the decisions in the last message of a request, if its role is `tool`, or in the assistant's UIMessage that the request
 * continues. Throws BadMessage (400) if there is no decision, or one is malformed.
 */
export function approvalResponses (source: AnswerSource): Answers {
  const answers = allResponses(source)
  if (answers.decisions.length > MAX_DECISIONS) {
    throw new BadMessage(`A request may hold at most ${MAX_DECISIONS} answers to approval requests.`)
  }
  return answers
}

function allResponses (source: AnswerSource): Answers {
  const at = answeringMessage(source)
  if (at === -1) {
    throw new BadMessage(
      `messages[${source.messages.length - 1}] must be the answer: ` +
        '{ "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "…", "approved": true }] }.'
    )
  }
  const { role, content, parts } = source.messages[at]
  if (role === 'tool') {
    return {
      includesOlder: false,
      decisions: list(content).flatMap((part, n) =>
        isResponse(part) ? [decision(part.approvalId, part, `messages[${at}].content[${n}]`, 'approvalId')] : []
      )
    }
  }
  return {
    includesOlder: true,
    decisions: list(parts).flatMap((part, n) =>
      isResponded(part) ? [decision(part.approval?.id, part.approval, `messages[${at}].parts[${n}].approval`, 'id')] : []
    )
  }
}

const SCOPES = ScopeSchema.anyOf.map((scope) => scope.const)

function decision (
  approvalId: unknown,
  response: { approved?: unknown, answers?: unknown, reason?: unknown, scope?: unknown, until?: unknown } | undefined,
  where: string,
  idField: string
): Decision {
  const { answers, approved = answers === undefined ? undefined : true, reason, scope, until } = response ?? {}
  if (typeof approvalId !== 'string') throw new BadMessage(`${where}.${idField} must be a string.`)
  if (typeof approved !== 'boolean') throw new BadMessage(`${where}.approved must be true or false, as a JSON boolean.`)
  if (answers !== undefined && !(approved && isAnswers(answers))) {
    throw new BadMessage(`${where}.answers must hold texts or lists of texts by the ids of their questions, in place of "approved".`)
  }
  if (reason !== undefined && typeof reason !== 'string') throw new BadMessage(`${where}.reason must be a string.`)
  if (scope !== undefined && !Check(ScopeSchema, scope)) throw new BadMessage(`${where}.scope must be one of ${SCOPES.join(', ')}.`)
  if (until !== undefined && !Check(UntilSchema, until)) {
    throw new BadMessage(`${where}.until must be {"uses": <number of calls>}, {"at": <epoch milliseconds>} or both.`)
  }
  return { approvalId, approved, answers, reason: reason?.slice(0, REASON_KEPT), scope, until }
}

/** Returns the approval ids in a history. They identify the conversation of a request without an `id`. */
export function referencedApprovals (messages: RawMessage[]): string[] {
  return messages.flatMap(({ content, parts }) => [
    ...list(content).map((part) => part?.approvalId),
    ...list(parts).map((part) => part?.approval?.id)
  ]).filter((id) => typeof id === 'string')
}

/** The result of a call in a request. Only the ledger knows whether the call is one of the application. */
export interface CallResult {
  /** The id of the call, which is also the id of its item in the ledger. */
  approvalId: string
  result: AppResult
}

/** The most results in one request that are looked up. Each costs a read of the store. */
const MAX_RESULTS = 1000

/** Returns an output as an object. Chat clients can send any value; a value that is not an object is wrapped. */
const wrapped = (value: unknown): AppResult =>
  isObject(value) ? { output: value } : { output: { result: value ?? null }, isWrapped: true }

/**
 * Returns the results of calls in the last message of a request, or in the assistant message that a chat client continues. In a message
 * with the role `tool` these are all results, in an assistant message the parts of its newest step that have an output. The calls can be of
 * any tool.
 */
export function callResults ({ messages, messageId, trigger }: AnswerSource): CallResult[] {
  if (trigger === 'regenerate-message') return []
  const continued = messageId === undefined ? undefined : messages.findLast(({ id, role }) => id === messageId && role === 'assistant')
  const { role, content, parts } = continued ?? messages.at(-1) ?? {}
  const results = role === 'assistant' ? ofNewestStep(list(parts)).flatMap(ofPart) : role === 'tool' ? list(content).flatMap(ofResult) : []
  return results.filter(({ approvalId }) => isId(approvalId)).slice(-MAX_RESULTS)
}

const ofNewestStep = (parts: any[]) => parts.slice(parts.findLastIndex((part) => part?.type === 'step-start') + 1)

/** Returns the results in a chat client's tool part. */
function ofPart (part: any): CallResult[] {
  const { toolCallId: approvalId, state } = part ?? {}
  if (state === 'output-available') return [{ approvalId, result: wrapped(part.output) }]
  if (state === 'output-error') return [{ approvalId, result: { errorText: asText(part.errorText) } }]
  return []
}

/** Returns the results in a part `tool-result`, as in the SDK's ModelMessages. */
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
