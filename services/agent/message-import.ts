import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { ModelMessage, ToolResultPart } from 'ai'
import { asObject } from '../lib/json.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { BadMessage, deepestIssue, type RawMessage } from './raw-message.ts'
import { plainMessages } from './plain-messages.ts'
import { fromUIMessage } from './ui-message-import.ts'

/** Before what the application says between other messages. */
const NOTE = 'A note of the application, not written by the user:\n'
const MOVED_ON = 'The user moved on without answering.'

type ForModel = (output: Record<string, unknown>, toolName: string) => LanguageModelV4ToolResultOutput

/** What an error calls a message, and whether the message is one of the thread. */
export interface Origin {
  name: string
  isStored: boolean
}

export interface Converted {
  prompt: LanguageModelV4Prompt
  instructions: string[]
  /** Of which of the messages a message of the prompt is the first. */
  origins: Map<LanguageModelV4Message, number>
}

/** A message on its way into the prompt. */
interface Checked {
  message: ModelMessage
  at: number
}

/**
 * Turns the client's messages, UIMessages among them, into a model prompt. System messages that come before all others
 * are the application's instructions, returned apart; later ones, which anybody may have put into a history, count no
 * more than what a user says. Calls that never got a result count as denied, approval parts are dropped: only the ledger
 * decides approvals. `forModel` makes of an output what a model may see of it; `originOf` says what the n-th message is called
 * and whether it is one of the thread. However many messages there are, the event loop goes on between them. Throws
 * BadMessage (400) that names the message.
 */
export async function toPrompt (
  messages: RawMessage[],
  forModel: ForModel,
  originOf: (n: number) => Origin = (n) => ({ name: `messages[${n}]`, isStored: false })
): Promise<Converted> {
  const checked: Checked[] = []
  for (const [at, message] of messages.entries()) {
    for (const each of plainMessages(message) ?? await check(message, originOf(at))) checked.push({ message: each, at })
    await yieldToEventLoop()
  }
  const begun = checked.findIndex(({ message: { role } }) => role !== 'system')
  const instructions = checked.slice(0, begun).map(({ message: { content } }) => content as string)
  if (!checked.some(({ message }) => message.role === 'user' && message.content.length > 0)) {
    throw new BadMessage('messages holds no message with role "user" that says something.')
  }
  const rest = checked.slice(begun).map(({ message, at }): Checked =>
    message.role === 'system' ? { message: { role: 'user', content: `${NOTE}${message.content}` }, at } : { message, at }
  )
  const prompt: LanguageModelV4Prompt = []
  const origins = new Map<LanguageModelV4Message, number>()
  let last = -1
  for (const slice of slicesOf(await repair(rest, forModel))) {
    const said = slice.filter(({ message: { role } }) => role !== 'tool')
    let nth = 0
    for (const message of await convert(slice.map((each) => each.message))) {
      const at = message.role === 'tool' ? last : said[nth++].at
      if (at !== last) origins.set(message, last = at)
      if (hasContent(message)) prompt.push(message)
    }
    await yieldToEventLoop()
  }
  return { prompt, instructions, origins }
}

/** The message as the SDK's, or several for one of a chat client. */
async function check (message: RawMessage, { name, isStored }: Origin): Promise<ModelMessage[]> {
  if (message.parts !== undefined) return fromUIMessage(message, name, isStored)
  const { modelMessageSchema } = await import('ai')
  const whole: ModelMessage[] = []
  for (const slice of slices(message)) {
    const result = modelMessageSchema.safeParse(slice.message)
    if (!result.success) {
      const wrong = whatIsWrong(message, result.error.issues, slice.from)
      throw new BadMessage(
        isStored ? `${name} is not a message: ${wrong}. Mend it with PUT /threads/:id.` : `${name} is not a message: ${wrong}.`
      )
    }
    whole.push(result.data as ModelMessage)
    await yieldToEventLoop()
  }
  return [whole.length === 1 ? whole[0] : { ...whole[0], content: whole.flatMap(({ content }) => content as unknown[]) } as ModelMessage]
}

/** So many messages are converted at once. */
const AT_ONCE = 200

/** The messages in slices that each begin with what the user says: no result stands in another one than its call. */
function slicesOf (messages: Checked[]): Checked[][] {
  const slices: Checked[][] = []
  for (const each of messages) {
    const last = slices.at(-1)
    if (last === undefined || (last.length >= AT_ONCE && each.message.role === 'user')) slices.push([each])
    else last.push(each)
  }
  return slices
}

async function convert (messages: ModelMessage[]): Promise<LanguageModelV4Prompt> {
  const { convertToLanguageModelPrompt } = await import('ai/internal')
  try {
    return await convertToLanguageModelPrompt({
      prompt: { messages, instructions: undefined },
      // A model that takes the address fetches it itself; the service fetches nothing for a message.
      supportedUrls: { '*/*': [/^https?:/] },
      download: async (files) =>
        files.map(({ isUrlSupportedByModel }) => {
          if (!isUrlSupportedByModel) {
            throw new BadMessage('a file is given by an address that is not http or https: attach the file itself.')
          }
          return null
        })
    })
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
  return Array.from(
    { length: Math.ceil(content.length / PARTS) },
    (_, n) => ({ message: { ...message, content: content.slice(n * PARTS, (n + 1) * PARTS) }, from: n * PARTS })
  )
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
async function repair (messages: Checked[], forModel: ForModel): Promise<Checked[]> {
  // A result is the tool's, or, where the provider ran the call itself, in the assistant's own message.
  const answered = new Set<string>()
  for (const { message: { content } } of messages) {
    if (typeof content !== 'string') { for (const part of content) if (part.type === 'tool-result') answered.add(part.toolCallId) }
  }
  const called = new Set<string>()
  const repaired: Checked[] = []
  for (const { message, at } of messages) {
    for (const each of repairOne(message, { answered, called }, forModel)) repaired.push({ message: each, at })
    await yieldToEventLoop()
  }
  return repaired
}

function repairOne (
  message: ModelMessage,
  { answered, called }: { answered: Set<string>, called: Set<string> },
  forModel: ForModel
): ModelMessage[] {
  if (message.role === 'tool') {
    const content = message.content.flatMap((part) =>
      part.type === 'tool-result' && called.has(part.toolCallId) ? [shorten(part, forModel)] : []
    )
    return content.length > 0 ? [{ ...message, content }] : []
  }
  if (message.role !== 'assistant' || typeof message.content === 'string' || message.content.every(({ type }) => type === 'text')) {
    return [message]
  }
  const content = message.content.filter((part) => part.type !== 'tool-approval-request')
    .map((part) => part.type === 'tool-call' ? { ...part, input: asObject(part.input) } : part)
  const calls = content.filter((part) => part.type === 'tool-call')
  for (const { toolCallId } of calls) called.add(toolCallId)
  const abandoned = calls.filter(({ toolCallId }) => !answered.has(toolCallId)).map(({ toolCallId, toolName }) => ({
    type: 'tool-result' as const,
    toolCallId,
    toolName,
    output: { type: 'execution-denied' as const, reason: MOVED_ON }
  }))
  return [{ ...message, content }, ...(abandoned.length > 0 ? [{ role: 'tool' as const, content: abandoned }] : [])]
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
