import { readJson, isObject } from '../../../lib/json.ts'
import type { RunBody } from '../../../../schemas/agent.ts'
import type { ChatCompletionBody, ChatMessage, ChatTool } from '../../../../schemas/openai.ts'
import type { AppTool, Effort, RunOptions } from '../../../../schemas/run-options.ts'
import { defineError } from '../../../lib/service-error.ts'

const BadField = defineError('ERR_INVALID_REQUEST', '%s')

/** Throws BadField (400) that names a field of the request. */
function refuse (field: string, why: string): never {
  const error = new BadField(`${field} ${why}`)
  error.details = [{ path: `/${field.replaceAll('[', '/').replaceAll(']', '').replaceAll('.', '/')}`, message: why }]
  throw error
}

/** A request as a run takes it. */
export interface ChatRequest {
  body: RunBody & { messages: NonNullable<RunBody['messages']>, options: RunOptions }
  /** The ids of the calls whose results end the conversation. */
  answered: string[]
  /** The tools of the caller. */
  tools: string[]
  /** The answer is an object: JSON as text, or, with a name, the call of that tool. */
  object?: { toolName?: string }
}

/** Returns the address of a picture as the data of a file, `data:…`. */
type LoadPicture = (url: string) => Promise<string>

/** The application whose calls these are, in `GET /tool-calls?app=`. */
const CHAT_APP = 'chat-completions'
/** Pictures of one request that are loaded from the web. */
const MOST_PICTURES = 20
/** Characters of their data, in base64: 24 MiB of pictures. */
const MOST_DATA = 32 * 1024 * 1024
const EFFORTS: string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[]
const CHOICES = 'must be none, auto, required or a function.'
const ONE_CALL = "Call at most one of the application's tools in one answer."
const MUST_CALL = "Before you answer, call at least one of the application's tools."

/**
 * Reads a request of OpenAI's chat completions. What has no effect here is left out (docs/openai.md lists it); what would make the answer
 * another one, such as more choices, is refused. Throws BadField (400), and what `loadPicture` throws.
 */
export async function readChatRequest (given: ChatCompletionBody, loadPicture: LoadPicture): Promise<ChatRequest> {
  if ((given.n ?? 1) !== 1) refuse('n', 'must be 1: there is one answer.')
  if (given.logprobs) refuse('logprobs', 'cannot be had here.')
  if (given.modalities?.some((each) => each !== 'text')) refuse('modalities', 'can only be ["text"].')
  const tools = given.tool_choice === 'none' ? [] : (given.tools ?? []).map(toAppTool)
  const forced = forcedTool(given.tool_choice, tools)
  const object = forced === undefined ? objectOf(given) : { schema: forced.inputSchema }
  const offered = forced === undefined ? tools : []
  const { messages, answered } = await readMessages(given.messages, loadPicture)
  const instructions = [
    ...offered.length > 0 && given.tool_choice === 'required' ? [MUST_CALL] : [],
    ...offered.length > 0 && given.parallel_tool_calls === false ? [ONE_CALL] : []
  ]
  const limit = given.max_completion_tokens ?? given.max_tokens
  return {
    body: {
      messages,
      cwd: given.cwd || undefined,
      options: {
        interactive: false,
        ...offered.length > 0 && { appTools: offered, app: CHAT_APP },
        object,
        instructions: instructions.join(' ') || undefined,
        maxOutputTokens: limit || undefined,
        effort: given.reasoning_effort ? effortOf(given.reasoning_effort) : undefined
      }
    },
    answered,
    tools: offered.map(({ name }) => name),
    object: object && { toolName: forced?.name }
  }
}

function effortOf (effort: string): Effort {
  return EFFORTS.includes(effort) ? effort as Effort : refuse('reasoning_effort', `must be one of ${EFFORTS.join(', ')}.`)
}

/** The caller executes its tools and decides itself whether to: no approval is asked for here. */
function toAppTool ({ type, function: tool }: ChatTool, at: number): AppTool {
  if (type !== 'function' || tool === undefined) {
    return refuse(`tools[${at}]`, 'must be of type "function": other tools cannot be used here.')
  }
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(tool.name)) {
    refuse(`tools[${at}].function.name`, 'must be up to 64 letters, digits, _ and -, beginning with a letter.')
  }
  return {
    name: tool.name,
    description: (tool.description || tool.name).slice(0, 8_192),
    inputSchema: { type: 'object', properties: {}, ...tool.parameters },
    effect: 'read'
  }
}

/** Returns the tool that must be called: the one that is named, or the only one where one is required. */
function forcedTool (choice: ChatCompletionBody['tool_choice'], tools: AppTool[]): AppTool | undefined {
  if (choice === 'required' && tools.length === 1) return tools[0]
  if (choice == null || typeof choice === 'string') {
    if (choice != null && !['none', 'auto', 'required'].includes(choice)) refuse('tool_choice', CHOICES)
    return undefined
  }
  if (choice.type !== 'function') return refuse('tool_choice', CHOICES)
  return tools.find(({ name }) => name === choice.function?.name) ?? refuse('tool_choice', 'names a function that is not in tools.')
}

function objectOf ({ response_format: format }: ChatCompletionBody): RunOptions['object'] {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined
    case 'json_object':
      return { schema: { type: 'object', additionalProperties: true } }
    case 'json_schema': {
      const schema = format.json_schema?.schema as Record<string, unknown> | undefined
      return { schema: schema ?? refuse('response_format.json_schema.schema', 'is missing.') }
    }
    default:
      return refuse('response_format.type', 'must be text, json_object or json_schema.')
  }
}

/** The pictures of a request that are loaded from the web. */
interface Pictures {
  left: number
  /** Characters of data that may follow. */
  room: number
  load: LoadPicture
}

type Message = ChatRequest['body']['messages'][number]

async function readMessages (given: ChatMessage[], loadPicture: LoadPicture): Promise<{ messages: Message[], answered: string[] }> {
  const names = new Map<string, string>()
  const messages: Message[] = []
  const pictures: Pictures = { left: MOST_PICTURES, room: MOST_DATA, load: loadPicture }
  let results: object[] = []
  for (const [n, message] of given.entries()) {
    const where = `messages[${n}]`
    if (message.role !== 'tool') results = []
    switch (message.role) {
      case 'developer':
      case 'system':
        messages.push({ role: 'system', content: textOf(message, where) })
        break
      case 'user':
        messages.push({ role: 'user', content: await userContent(message.content, where, pictures) })
        break
      case 'assistant': {
        const text = withoutNotes(textOf(message, where))
        const calls = (message.tool_calls ?? []).map((call, at) => toCall(call, `${where}.tool_calls[${at}]`))
        for (const { toolCallId, toolName } of calls) names.set(toolCallId, toolName)
        const content = [...text === '' ? [] : [{ type: 'text', text }], ...calls]
        if (content.length > 0) messages.push({ role: 'assistant', content: calls.length > 0 ? content : text })
        break
      }
      case 'tool': {
        const toolCallId = message.tool_call_id ?? refuse(`${where}.tool_call_id`, 'is missing.')
        const toolName = names.get(toolCallId) ?? refuse(`${where}.tool_call_id`, 'is of no call in the messages before it.')
        // The results of one answer are one message, as they are stored.
        if (results.length === 0) messages.push({ role: 'tool', content: results = [] })
        results.push({ type: 'tool-result', toolCallId, toolName, output: outputOf(textOf(message, where)) })
        break
      }
      default:
        refuse(`${where}.role`, 'must be developer, system, user, assistant or tool.')
    }
  }
  return { messages, answered: results.map((result) => (result as { toolCallId: string }).toolCallId) }
}

function toCall ({ id, function: called }: NonNullable<ChatMessage['tool_calls']>[number], where: string) {
  if (called === undefined) return refuse(where, 'must be the call of a function.')
  return { type: 'tool-call', toolCallId: id, toolName: called.name, input: parsed(called.arguments) ?? { arguments: called.arguments } }
}

/** Returns what a result says: an object where it is the JSON of one, else its text. */
function outputOf (text: string) {
  const value = parsed(text)
  return value === undefined ? { type: 'text', value: text } : { type: 'json', value }
}

/** Returns the object that a JSON text holds; undefined for anything else. */
function parsed (text: string): Record<string, unknown> | undefined {
  const value: unknown = readJson(text || '{}')
  return isObject(value) ? value : undefined
}

type Parts = Exclude<ChatMessage['content'], string | null | undefined>

function textOf ({ content }: ChatMessage, where: string): string {
  if (!Array.isArray(content)) return content ?? ''
  return content.map((part, at) => {
    const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
    return typeof text === 'string' ? text : refuse(`${where}.content[${at}]`, 'must be a text.')
  }).join('')
}

async function userContent (content: ChatMessage['content'], where: string, pictures: Pictures) {
  if (!Array.isArray(content)) return content ?? ''
  const parts: object[] = []
  for (const [at, part] of content.entries()) parts.push(await userPart(part, `${where}.content[${at}]`, pictures))
  return parts
}

async function userPart (part: Parts[number], where: string, pictures: Pictures) {
  const value = part[part.type] as Record<string, unknown> | string | undefined
  if (part.type === 'text' && typeof value === 'string') return { type: 'text', text: value }
  const field = (name: string): string => {
    const found = typeof value === 'object' && value !== null ? value[name] : undefined
    return typeof found === 'string' && found !== '' ? found : refuse(`${where}.${part.type}.${name}`, 'is missing.')
  }
  switch (part.type) {
    case 'image_url': {
      const url = typeof value === 'string' ? value : field('url')
      if (/^data:/i.test(url)) return file(url)
      if (!/^https?:/i.test(url)) refuse(`${where}.image_url.url`, 'must be a data:, http: or https: address.')
      if (pictures.left-- === 0) refuse(`${where}.image_url.url`, `is one of more than ${MOST_PICTURES}: send the pictures themselves.`)
      const data = await pictures.load(url)
      pictures.room -= data.length
      if (pictures.room < 0) refuse(`${where}.image_url.url`, 'is too much: the pictures of one request may be up to 24 MiB together.')
      return file(data)
    }
    case 'input_audio':
      return file(`data:audio/${field('format')};base64,${field('data')}`)
    case 'file': {
      const data = field('file_data')
      const filename = typeof value === 'object' ? value?.filename : undefined
      return { ...file(/^data:/i.test(data) ? data : `data:;base64,${data}`), ...typeof filename === 'string' && { filename } }
    }
    default:
      return refuse(where, 'must be of type text, image_url, file or input_audio.')
  }
}

const file = (data: string) => ({ type: 'file', data, mediaType: /^data:([^;,]+)/i.exec(data)?.[1] ?? 'application/octet-stream' })

/** What the service itself says in an answer: lines that the model did not write. */
const OPENING = '[Note: '

/** Returns a line that the service adds to an answer. */
export const note = (text: string): string => `${OPENING}${text.replaceAll(']', ')')}]`

const NOTES = /\n*\[Note: [^\]\n]*\](?=\n|$)/g

/** Returns the text of an answer as its model wrote it, so that the stored conversation is found by it. */
const withoutNotes = (text: string): string => text.includes(OPENING) ? text.replace(NOTES, '').trimStart() : text
