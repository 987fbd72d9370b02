import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { ModelMessage, ToolResultPart } from 'ai'
import { asObject } from '../json.ts'
import { turn } from '../models/turns.ts'
import { BadMessage, deepestIssue, type RawMessage } from './raw-message.ts'
import { fromUIMessage } from './ui-messages.ts'

/** Before what the application says between other messages. */
const NOTE = 'A note of the application, not written by the user:\n'
const MOVED_ON = 'The user moved on without answering.'

type ForModel = (output: Record<string, unknown>, toolName: string) => LanguageModelV4ToolResultOutput

/**
 * Turns the client's messages, UIMessages among them, into a model prompt. System messages that come before all others
 * are the application's instructions, returned apart; later ones, which anybody may have put into a history, count no
 * more than what a user says. Calls that never got a result count as denied, approval parts are dropped: only the ledger
 * decides approvals. `forModel` makes of an output what a model may see of it; so many messages at the beginning are `stored` ones. Throws
 * BadMessage (400) that names the message.
 */
export async function toPrompt (messages: RawMessage[], forModel: ForModel, stored = 0): Promise<{ prompt: LanguageModelV4Prompt, instructions: string[] }> {
  const [{ modelMessageSchema }, { convertToLanguageModelPrompt }] = await Promise.all([import('ai'), import('ai/internal')])
  const checked: ModelMessage[] = []
  for (const [at, message] of messages.entries()) {
    if (message.parts !== undefined) {
      checked.push(...await fromUIMessage(message, at, at < stored))
      continue
    }
    const whole: ModelMessage[] = []
    for (const slice of slices(message)) {
      const result = modelMessageSchema.safeParse(slice.message)
      if (!result.success) {
        const wrong = whatIsWrong(message, result.error.issues, slice.from)
        throw new BadMessage(at < stored ? `messages[${at}] of the thread is not a message: ${wrong}. Mend it with PUT /threads/:id.` : `messages[${at}] is not a message: ${wrong}.`)
      }
      whole.push(result.data as ModelMessage)
      await turn()
    }
    checked.push(whole.length === 1 ? whole[0] : { ...whole[0], content: whole.flatMap(({ content }) => content as unknown[]) } as ModelMessage)
  }
  const begun = checked.findIndex(({ role }) => role !== 'system')
  const instructions = checked.slice(0, begun).map(({ content }) => content as string)
  if (!checked.some((message) => message.role === 'user' && message.content.length > 0)) throw new BadMessage('messages holds no message with role "user" that says something.')
  const rest = checked.slice(begun).map((message): ModelMessage => message.role === 'system' ? { role: 'user', content: `${NOTE}${message.content}` } : message)
  try {
    const prompt = await convertToLanguageModelPrompt({
      prompt: { messages: repair(rest, forModel), instructions: undefined },
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

/** So many parts are checked at once: each bad one is explained in many words, and a body has room for many. */
const PARTS = 20

function slices (message: RawMessage): Array<{ message: RawMessage, from: number }> {
  const { content } = message
  if (!Array.isArray(content) || content.length <= PARTS) return [{ message, from: 0 }]
  return Array.from({ length: Math.ceil(content.length / PARTS) }, (_, n) => ({ message: { ...message, content: content.slice(n * PARTS, (n + 1) * PARTS) }, from: n * PARTS }))
}

function whatIsWrong (message: RawMessage, issues: Parameters<typeof deepestIssue>[0], from: number): string {
  if (!ROLES.includes(message.role)) return `role must be one of ${ROLES.join(', ')}`
  if (message.content === undefined) return 'content is missing'
  if (typeof message.content !== 'string' && !Array.isArray(message.content)) return 'content must be a text or an array of parts'
  const deepest = deepestIssue(issues)
  const path = deepest.path.map((key, level) => level === 1 && typeof key === 'number' ? key + from : key)
  return `content does not fit role "${message.role}" (${[...path, deepest.message].join(' ')})`
}

/**
 * Gives every tool call a result and drops what only the ledger may say. Results whose call is not in the history, which
 * clients cut at its beginning, are dropped as well, and inputs are objects: providers refuse the conversation otherwise.
 */
function repair (messages: ModelMessage[], forModel: ForModel): ModelMessage[] {
  // A result is the tool's, or, where the provider ran the call itself, in the assistant's own message.
  const answered = new Set(messages.flatMap(({ content }) => typeof content === 'string' ? [] : content.flatMap((part) => part.type === 'tool-result' ? [part.toolCallId] : [])))
  const called = new Set<string>()
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === 'tool') {
      const content = message.content.flatMap((part) => part.type === 'tool-result' && called.has(part.toolCallId) ? [shorten(part, forModel)] : [])
      return content.length > 0 ? [{ ...message, content }] : []
    }
    if (message.role !== 'assistant' || typeof message.content === 'string') return [message]
    const content = message.content.filter((part) => part.type !== 'tool-approval-request')
      .map((part) => part.type === 'tool-call' ? { ...part, input: asObject(part.input) } : part)
    const calls = content.filter((part) => part.type === 'tool-call')
    for (const { toolCallId } of calls) called.add(toolCallId)
    const abandoned = calls.filter(({ toolCallId }) => !answered.has(toolCallId)).map(({ toolCallId, toolName }) =>
      ({ type: 'tool-result' as const, toolCallId, toolName, output: { type: 'execution-denied' as const, reason: MOVED_ON } }))
    return [{ ...message, content }, ...(abandoned.length > 0 ? [{ role: 'tool' as const, content: abandoned }] : [])]
  })
}

function shorten (part: ToolResultPart, forModel: ForModel): ToolResultPart {
  const { output } = part
  if (output.type !== 'json' || typeof output.value !== 'object' || output.value === null || Array.isArray(output.value)) return part
  return { ...part, output: { ...output, ...forModel(output.value as Record<string, unknown>, part.toolName) } as ToolResultPart['output'] }
}

function hasContent (message: LanguageModelV4Message) {
  return message.content.length > 0
}

/** The id of the assistant's message that a chat client has the run go on with; undefined when it begins a new one. */
export function continuedMessage (messages: RawMessage[]): string | undefined {
  const { role, parts, id } = messages.at(-1)!
  return role === 'assistant' && parts !== undefined && typeof id === 'string' && id !== '' ? id : undefined
}
