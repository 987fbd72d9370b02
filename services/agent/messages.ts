import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createError } from '@fastify/error'
import type { ModelMessage } from 'ai'

export const BadMessage = createError('ERR_INVALID_MESSAGES', '%s', 400)

/** A message as the client sent it: checked by the schema to have a role, and no more than that. */
export interface RawMessage { role: string, content?: unknown, parts?: unknown }

export interface ApprovalResponse { approvalId: string, approved: boolean, reason?: string }

const MOVED_ON = 'The user moved on without answering.'

/**
 * Turns the client's messages into a model prompt. System messages are returned apart, as instructions. Calls that
 * never got a result count as denied, approval parts are dropped: only the ledger decides approvals.
 * Throws BadMessage (400) that names the message.
 */
export async function toPrompt (messages: RawMessage[]): Promise<{ prompt: LanguageModelV4Prompt, instructions: string[] }> {
  const [{ modelMessageSchema }, { convertToLanguageModelPrompt }] = await Promise.all([import('ai'), import('ai/internal')])
  const checked = messages.map((message, at) => {
    if (message.parts !== undefined) throw new BadMessage(`messages[${at}] has "parts": send messages as { role, content }.`)
    const result = modelMessageSchema.safeParse(message)
    if (!result.success) throw new BadMessage(`messages[${at}] is not a message: ${whatIsWrong(message, result.error.issues)}.`)
    return result.data as ModelMessage
  })
  const instructions = checked.flatMap((message) => message.role === 'system' ? [message.content] : [])
  const rest = checked.filter((message) => message.role !== 'system')
  if (!rest.some((message) => message.role === 'user')) throw new BadMessage('messages holds no message with role "user".')
  try {
    const prompt = await convertToLanguageModelPrompt({
      prompt: { messages: repair(rest), instructions: undefined },
      // A model that takes the address fetches it itself; the service fetches nothing for a message.
      supportedUrls: { '*/*': [/^https?:/] },
      download: async (files) => files.map(({ isUrlSupportedByModel }) => {
        if (!isUrlSupportedByModel) throw new BadMessage('a file is given by an address that is not http or https: attach the file itself.')
        return null
      })
    })
    return { prompt: prompt.filter(hasContent), instructions }
  } catch (error) {
    throw error instanceof BadMessage ? error : new BadMessage(`messages cannot be used: ${(error as Error).message}`)
  }
}

const ROLES = ['system', 'user', 'assistant', 'tool']

function whatIsWrong (message: RawMessage, issues: ReadonlyArray<{ path: PropertyKey[], message: string }>): string {
  if (!ROLES.includes(message.role)) return `role must be one of ${ROLES.join(', ')}`
  if (message.content === undefined) return 'content is missing'
  if (typeof message.content !== 'string' && !Array.isArray(message.content)) return 'content must be a text or an array of parts'
  const deepest = issues.toSorted((a, b) => b.path.length - a.path.length)[0]
  return `content does not fit role "${message.role}" (${[...deepest.path, deepest.message].join(' ')})`
}

/** Gives every tool call a result and drops what only the ledger may say. */
function repair (messages: ModelMessage[]): ModelMessage[] {
  const answered = new Set(messages.flatMap((message) => message.role === 'tool'
    ? message.content.flatMap((part) => part.type === 'tool-result' ? [part.toolCallId] : [])
    : []))
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === 'tool') {
      const content = message.content.filter((part) => part.type === 'tool-result')
      return content.length > 0 ? [{ ...message, content }] : []
    }
    if (message.role !== 'assistant' || typeof message.content === 'string') return [message]
    const content = message.content.filter((part) => part.type !== 'tool-approval-request')
    const abandoned = content.flatMap((part) => part.type === 'tool-call' && !answered.has(part.toolCallId)
      ? [{ type: 'tool-result' as const, toolCallId: part.toolCallId, toolName: part.toolName, output: { type: 'execution-denied' as const, reason: MOVED_ON } }]
      : [])
    return [{ ...message, content }, ...(abandoned.length > 0 ? [{ role: 'tool' as const, content: abandoned }] : [])]
  })
}

function hasContent (message: LanguageModelV4Message) {
  return message.content.length > 0
}

/**
 * The decisions in the final message of `POST /run/approve`. Throws BadMessage (400) unless that message has role
 * `tool` and holds at least one well-formed `tool-approval-response`.
 */
export function approvalResponses (messages: RawMessage[]): ApprovalResponse[] {
  const last = messages.at(-1)!
  const where = `messages[${messages.length - 1}]`
  if (last.role !== 'tool' || !Array.isArray(last.content)) {
    throw new BadMessage(`${where} must be the answer: { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "…", "approved": true }] }.`)
  }
  const responses = last.content.flatMap((part, at): ApprovalResponse[] => {
    if (part?.type !== 'tool-approval-response') return []
    const { approvalId, approved, reason } = part
    if (typeof approvalId !== 'string') throw new BadMessage(`${where}.content[${at}].approvalId must be a string.`)
    if (typeof approved !== 'boolean') throw new BadMessage(`${where}.content[${at}].approved must be true or false, as a JSON boolean.`)
    if (reason !== undefined && typeof reason !== 'string') throw new BadMessage(`${where}.content[${at}].reason must be a string.`)
    return [{ approvalId, approved, ...(reason !== undefined && { reason: reason.slice(0, 4000) }) }]
  })
  if (responses.length === 0) throw new BadMessage(`${where} holds no part of type "tool-approval-response".`)
  return responses
}

/** Whether the last message answers an approval request instead of saying something new. */
export function isAnswer (messages: RawMessage[]): boolean {
  const { role, content } = messages.at(-1)!
  return role === 'tool' && Array.isArray(content) && content.some((part) => part?.type === 'tool-approval-response')
}

/** Approval ids that the history mentions: they say which conversation a new message belongs to. */
export function mentionedApprovals (messages: RawMessage[]): string[] {
  return messages.flatMap(({ content }) => Array.isArray(content)
    ? content.flatMap((part) => typeof part?.approvalId === 'string' ? [part.approvalId as string] : [])
    : [])
}
