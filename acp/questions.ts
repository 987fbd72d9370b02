import type { AgentContext, ElicitationPropertySchema, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Agent, Answers, Approval, ApprovalDecision, Question } from '../client/index.ts'

/** Collaborators for asking an editor about the open items of a session. */
export interface ItemParts {
  agent: Agent
  client: AgentContext
  sessionId: string
  cwd: string
  canElicit: boolean
}

/** The JSON-RPC error code for a method that the other side does not implement. */
const METHOD_NOT_FOUND = -32601
/** Returned instead of an option id if the editor has no permission requests. */
const NO_PERMISSIONS = ''

/**
 * Asks the user for a permission. Returns the id of the chosen option; undefined if the request was cancelled or the editor has
 * disconnected.
 */
export async function requestPermission (
  client: AgentContext,
  params: Parameters<typeof client.request<'session/request_permission'>>[1],
  signal: AbortSignal
): Promise<string | undefined> {
  try {
    const { outcome }: RequestPermissionResponse =
      await client.request('session/request_permission', params, { cancellationSignal: signal })
    return outcome.outcome === 'selected' ? outcome.optionId : undefined
  } catch (error) {
    return (error as { code?: unknown }).code === METHOD_NOT_FOUND ? NO_PERMISSIONS : undefined
  }
}

/** The user's decision; `unasked` if the editor cannot show the item; undefined if the user made no decision. */
export type Asked = ApprovalDecision | 'unasked' | undefined

const DECLINE = 'decline'

/** Returns true if one of the question's options answers it. */
const isChoice = ({ options, multi }: Question) => options !== undefined && multi !== true
/** Returns true if the next prompt of the session can answer the item: it has a single question, which asks for a text. */
export const takesPrompt = ({ questions = [], live }: Approval) => questions.length === 1 && !isChoice(questions[0]) && live !== true

/** Returns the answer to an item for which `takesPrompt` is true. */
export function answerOf ({ questions = [] }: Approval, text: string): ApprovalDecision {
  const [{ id, options, multi }] = questions
  if (options === undefined || !multi) return { answers: { [id]: text } }
  const words = text.split(/[,\n]/).map((word) => word.trim().toLowerCase())
  return { answers: { [id]: options.flatMap(({ value, label }) => words.includes(label.toLowerCase()) ? [value] : []) } }
}

/** Asks the agent's questions: in a form if the editor has forms, else as one choice after the other. */
export function questionAsker ({ client, sessionId, canElicit }: ItemParts) {
  async function askForm (item: Approval, signal: AbortSignal): Promise<Asked> {
    const questions = item.questions ?? []
    try {
      const response = await client.request('elicitation/create', {
        mode: 'form',
        sessionId,
        ...item.toolCallId !== undefined && { toolCallId: item.toolCallId },
        message: questions.map(({ text }) => text).join('\n'),
        requestedSchema: {
          type: 'object',
          properties: Object.fromEntries(questions.map((question) => [question.id, fieldOf(question)])),
          required: questions.filter(({ required }) => required).map(({ id }) => id)
        }
      }, { cancellationSignal: signal })
      if (response.action === 'decline') return { approved: false }
      if (response.action !== 'accept') return undefined
      const { content } = response as { content?: Record<string, unknown> | null }
      return { answers: answersIn(content ?? {}) }
    } catch {
      return undefined
    }
  }

  async function askChoices (item: Approval, signal: AbortSignal): Promise<Asked> {
    const answers: Answers = {}
    for (const { id, text, options = [], required } of item.questions ?? []) {
      const chosen = await requestPermission(client, {
        sessionId,
        toolCall: { toolCallId: item.toolCallId ?? item.approvalId, title: text, kind: 'other', status: 'pending' },
        options: [
          ...options.map(({ label }, at) => ({ optionId: String(at), name: label, kind: 'allow_once' as const })),
          { optionId: DECLINE, name: required ? 'Do not answer.' : 'Leave it open.', kind: 'reject_once' }
        ]
      }, signal)
      if (chosen === undefined || chosen === NO_PERMISSIONS) return undefined
      if (chosen === DECLINE && required) return { approved: false }
      const option = options[Number(chosen)]
      if (option !== undefined) answers[id] = option.value
    }
    return Object.keys(answers).length === 0 ? { approved: false } : { answers }
  }

  /** Asks for more budget, as a permission request. In an editor without permission requests, nobody can agree. */
  async function askBudget ({ approvalId, questions = [] }: Approval, signal: AbortSignal): Promise<Asked> {
    const [{ id, text, options = [] }] = questions
    const chosen = await requestPermission(client, {
      sessionId,
      toolCall: { toolCallId: approvalId, title: text, kind: 'other', status: 'pending' },
      options: options.map(({ value, label }, at) => ({ optionId: value, name: label, kind: at === 0 ? 'allow_once' : 'reject_once' }))
    }, signal)
    if (chosen === NO_PERMISSIONS) return { approved: false }
    return options.some(({ value }) => value === chosen) ? { answers: { [id]: chosen! } } : undefined
  }

  return {
    async ask (item: Approval, signal: AbortSignal): Promise<Asked> {
      if (item.budget !== undefined) return askBudget(item, signal)
      if (canElicit) return askForm(item, signal)
      return item.questions?.every(isChoice) ? askChoices(item, signal) : 'unasked'
    }
  }
}

function fieldOf ({ text, options, multi, free }: Question): ElicitationPropertySchema {
  const choices = options?.map(({ value, label }) => ({ const: value, title: label }))
  if (choices === undefined || (free && !multi)) {
    const known = options === undefined ? undefined : options.map(({ label }) => label).join(', ')
    return { type: 'string', title: text, ...known !== undefined && { description: known } }
  }
  return multi ? { type: 'array', title: text, items: { anyOf: choices } } : { type: 'string', title: text, oneOf: choices }
}

const answersIn = (content: Record<string, unknown>): Answers =>
  Object.fromEntries(Object.entries(content).map(([id, value]) => [id, Array.isArray(value) ? value.map(String) : String(value)]))
