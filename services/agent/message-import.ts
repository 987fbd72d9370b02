import type { ModelMessage, ToolResultPart, UserModelMessage } from 'ai'
import { MESSAGE_ROLES } from '../../schemas/agent.ts'
import { USER_MOVED_ON } from '../contracts/model-texts.ts'
import { ANSWER, BadMessage, deepestIssue, type RawMessage } from '../threads/index.ts'
import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { asObject, isObject } from '../lib/json.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { fromUIMessage } from './ui-message-import.ts'

/**
 * Converts a message that contains only texts. The result is the same as that of the SDK, which takes fifty times as long. Most messages of
 * a long conversation contain only texts. Returns undefined for any other message, which the SDK must check and convert.
 */
export function plainMessages (message: RawMessage): ModelMessage[] | undefined {
  return message.parts === undefined ? plainModelMessage(message) : plainUIMessage(message)
}

type Part = Record<string, unknown>
type TextRole = 'user' | 'assistant'

const hasOnly = (value: object, names: readonly string[]): boolean => {
  for (const name in value) if (!names.includes(name)) return false
  return true
}
const isTextRole = (role: string): role is TextRole => role === 'user' || role === 'assistant'

function plainModelMessage ({ role, content, providerOptions }: RawMessage): ModelMessage[] | undefined {
  if (!isTextRole(role) || providerOptions !== undefined) return undefined
  if (typeof content === 'string') return [{ role, content }]
  if (!Array.isArray(content)) return undefined
  const texts: Array<{ type: 'text', text: string }> = []
  for (const part of content) {
    if (!isObject(part) || part.type !== 'text' || typeof part.text !== 'string' || part.providerOptions !== undefined) return undefined
    texts.push({ type: 'text', text: part.text })
  }
  return [{ role, content: texts }]
}

const MESSAGE = ['id', 'role', 'parts', 'metadata']
const TEXT = ['type', 'text', 'state']
const STEP = ['type']
const REASONING = ['type', 'text', 'state', 'providerMetadata']
const STATES = [undefined, 'streaming', 'done']

function plainUIMessage (message: RawMessage): ModelMessage[] | undefined {
  const { role, parts, id } = message
  if (
    !isTextRole(role) || !Array.isArray(parts) || parts.length === 0 || !hasOnly(message, MESSAGE) ||
    (id !== undefined && typeof id !== 'string')
  ) return undefined
  const steps: Array<Array<{ type: 'text', text: string }>> = [[]]
  for (const part of parts) {
    if (!isObject(part)) return undefined
    if (part.type === 'text' && typeof part.text === 'string' && STATES.includes(part.state as string) && hasOnly(part, TEXT)) {
      steps.at(-1)!.push({ type: 'text', text: part.text })
    } else if (role === 'assistant' && part.type === 'step-start' && hasOnly(part, STEP)) steps.push([])
    else if (role === 'user' || !isAnalysis(part)) return undefined
  }
  if (role === 'user') return [{ role, content: steps[0] }]
  return steps.filter((content) => content.length > 0).map((content) => ({ role, content }))
}

/** True if the part is the service's own analysis, which is shown before an answer and not sent to models. */
function isAnalysis ({ providerMetadata, ...part }: Part): boolean {
  if (part.type !== 'reasoning' || typeof part.text !== 'string' || !STATES.includes(part.state as string) || !hasOnly(part, REASONING)) {
    return false
  }
  return isObject(providerMetadata) && hasOnly(providerMetadata, ['agent']) && isObject(providerMetadata.agent) &&
    hasOnly(providerMetadata.agent, ['phase']) && providerMetadata.agent.phase === 'analysis'
}

/** The fixed first line of a user message that is made from a system message between other messages. */
const NOTE = 'A note of the application, not written by the user:\n'

type ForModel = (output: Record<string, unknown>, toolName: string) => LanguageModelV4ToolResultOutput

/** The name of a message in errors, and whether the message comes from the stored thread. */
export interface Origin {
  name: string
  isStored: boolean
}

interface Converted {
  prompt: LanguageModelV4Prompt
  instructions: string[]
  /** Maps the first prompt message that was made from each message of the request to the index of that message. */
  origins: Map<LanguageModelV4Message, number>
}

/** True if a message of the user contains more than empty texts. */
const saysSomething = (content: UserModelMessage['content']): boolean =>
  typeof content === 'string' ? content.trim() !== '' : content.some((part) => part.type !== 'text' || part.text.trim() !== '')

/** A message on its way into the prompt. */
interface Checked {
  message: ModelMessage
  at: number
}

/**
 * Converts the client's messages (ModelMessages and UIMessages) to a model prompt. System messages before all others are the application's
 * instructions and are returned separately. Later system messages become user messages, because any client can have inserted them. A call
 * without a result counts as denied, and approval parts are dropped, because only the ledger decides approvals. `forModel` converts a tool
 * output to the form that models get; `originOf` returns the origin of the n-th message. Yields to the event loop between messages. Throws
 * a BadMessage (400) that names the message.
 */
export async function toPrompt (messages: RawMessage[], forModel: ForModel, originOf: (n: number) => Origin): Promise<Converted> {
  const checked: Checked[] = []
  for (const [at, message] of messages.entries()) {
    const known = message[ANSWER]?.prompt as readonly ModelMessage[] | undefined
    for (const each of known ?? plainMessages(message) ?? await check(message, originOf(at))) checked.push({ message: each, at })
    await yieldToEventLoop()
  }
  const firstOther = checked.findIndex(({ message: { role } }) => role !== 'system')
  const instructions = checked.slice(0, firstOther).map(({ message: { content } }) => content as string)
  if (!checked.some(({ message }) => message.role === 'user' && saysSomething(message.content))) {
    throw new BadMessage('messages holds no message with role "user" that says something: its text is empty, and it has no file.')
  }
  const rest = checked.slice(firstOther).map(({ message, at }): Checked =>
    message.role === 'system' ? { message: { role: 'user', content: `${NOTE}${message.content}` }, at } : { message, at }
  )
  const prompt: LanguageModelV4Prompt = []
  const origins = new Map<LanguageModelV4Message, number>()
  let last = -1
  for (const slice of slicesOf(await repair(rest, forModel))) {
    const sources = slice.filter(({ message: { role } }) => role !== 'tool')
    let next = 0
    for (const message of await convert(slice.map((each) => each.message))) {
      const at = message.role === 'tool' ? last : sources[next++].at
      if (at !== last) origins.set(message, last = at)
      if (message.content.length > 0) prompt.push(message)
    }
    await yieldToEventLoop()
  }
  return { prompt, instructions, origins }
}

/** Converts a message to the SDK's ModelMessages; a UIMessage can become several. */
async function check (message: RawMessage, { name, isStored }: Origin): Promise<ModelMessage[]> {
  if (message.parts !== undefined) return fromUIMessage(message, name, isStored)
  const { modelMessageSchema } = await import('ai')
  const whole: ModelMessage[] = []
  for (const slice of slices(message)) {
    const result = modelMessageSchema.safeParse(slice.message)
    if (!result.success) {
      const wrong = whatIsWrong(message, result.error.issues, slice.from)
      throw new BadMessage(
        isStored ? `${name} is not a message: ${wrong}. Correct it with PUT /threads/:id.` : `${name} is not a message: ${wrong}.`
      )
    }
    whole.push(result.data as ModelMessage)
    await yieldToEventLoop()
  }
  return [whole.length === 1 ? whole[0] : { ...whole[0], content: whole.flatMap(({ content }) => content as unknown[]) } as ModelMessage]
}

/** The number of messages that the SDK converts in one call. */
const AT_ONCE = 200

/** Splits the messages into slices that begin with a user message, so that each tool result is in the same slice as its call. */
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
      // URLs of files are fetched by the provider, not by the service. Attachments are read before each model call.
      supportedUrls: { '*/*': [/^https?:/, /^attachment:/] },
      download: async (files) =>
        files.map(({ isUrlSupportedByModel }) => {
          if (!isUrlSupportedByModel) {
            throw new BadMessage('a file has a URL that is not http, https or attachment: attach the file itself.')
          }
          return null
        })
    })
  } catch (error) {
    throw error instanceof BadMessage ? error : new BadMessage(`messages cannot be used: ${(error as Error).message}`)
  }
}

/** The number of parts that are validated in one call. Each bad part causes many issues, and a body can contain many parts. */
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
  if (!MESSAGE_ROLES.includes(message.role)) return `role must be one of ${MESSAGE_ROLES.join(', ')}`
  if (message.content === undefined) return 'content is missing'
  if (typeof message.content !== 'string' && !Array.isArray(message.content)) return 'content must be a text or an array of parts'
  const deepest = deepestIssue(issues)
  const path = deepest.path.map((key, level) => level === 1 && typeof key === 'number' ? key + from : key)
  return `content does not fit role "${message.role}" (${[...path, deepest.message].join(' ')})`
}

/**
 * Gives every tool call a result, drops approval parts, drops results without a call (clients cut histories at the
 * beginning), and makes every input an object. Providers refuse the conversation otherwise.
 */
async function repair (messages: Checked[], forModel: ForModel): Promise<Checked[]> {
  // A result is in a tool message or, if the provider executed the call, in the assistant message.
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
      part.type === 'tool-result' && called.has(part.toolCallId) ? [toModelOutput(part, forModel)] : []
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
    output: { type: 'execution-denied' as const, reason: USER_MOVED_ON }
  }))
  return [{ ...message, content }, ...(abandoned.length > 0 ? [{ role: 'tool' as const, content: abandoned }] : [])]
}

function toModelOutput (part: ToolResultPart, forModel: ForModel): ToolResultPart {
  const { output } = part
  if (output.type !== 'json' || typeof output.value !== 'object' || output.value === null || Array.isArray(output.value)) return part
  return { ...part, output: { ...output, ...forModel(output.value as Record<string, unknown>, part.toolName) } as ToolResultPart['output'] }
}

/** Returns the id of the assistant message that a chat client wants continued; undefined if the run begins a new message. */
export function continuedMessage (messages: RawMessage[]): string | undefined {
  const { role, parts, id, [ANSWER]: answer }: Partial<RawMessage> = messages.at(-1) ?? {}
  if (answer?.stored.protocol === 'documented') return undefined
  return role === 'assistant' && parts !== undefined && typeof id === 'string' && id !== '' ? id : undefined
}
