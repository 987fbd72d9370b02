import { readJson, isObject } from '../../../lib/json.ts'
import type { RunBody } from '../../../../schemas/agent.ts'
import type { ChatCompletionBody, ChatMessage, ChatTool, ToolChoice } from '../../../../schemas/openai.ts'
import { type AppTool, type Effort, OPENAI_APP, type RunOptions } from '../../../../schemas/run-options.ts'
import { defineError } from '../../../lib/service-error.ts'
import { CHAT_FIELDS, type FieldNames } from './chat-fields.ts'

const BadField = defineError('ERR_INVALID_REQUEST', '%s')

/** Throws BadField (400) that names a field of the request. */
export function refuse (field: string, why: string): never {
  const error = new BadField(`${field} ${why}`)
  error.details = [{ path: `/${field.replaceAll('[', '/').replaceAll(']', '').replaceAll('.', '/')}`, message: why }]
  throw error
}

/** An OpenAI request, converted to the request of a run. */
export interface ChatRequest {
  body: RunBody & { messages: NonNullable<RunBody['messages']>, options: RunOptions }
  /** The ids of the calls whose results are at the end of the messages. */
  answered: string[]
  /** The names of the caller's tools. */
  tools: string[]
  /** Set if the answer must be an object: as JSON text or, with `toolName`, as the call of that tool. */
  object?: { toolName?: string }
  /** Whether the model must call one of several tools. */
  mustCall: boolean
  fields: FieldNames
}

/** Loads a picture from an address and returns it as a `data:` URL. */
type LoadPicture = (url: string) => Promise<string>

/** The most pictures of one request that are loaded from the web. */
const MOST_PICTURES = 20
/** The most characters of all loaded pictures of a request in base64, which is 24 MiB of pictures. */
const MOST_DATA = 32 * 1024 * 1024
const EFFORTS: string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[]
const CHOICES = 'must be none, auto, required, a function or allowed_tools.'
const ONE_CALL = "Call at most one of the application's tools in one answer."
const MUST_CALL = "Before you answer, call at least one of the application's tools."

/**
 * Converts a request of OpenAI's chat completions API. Fields that have no effect here are ignored (docs/openai.md lists them). Fields that
 * would change the answer, such as the number of choices, are refused. Throws BadField (400), and what `loadPicture` throws.
 */
export async function readChatRequest (
  wanted: ChatCompletionBody,
  loadPicture: LoadPicture,
  fields = CHAT_FIELDS
): Promise<ChatRequest> {
  if (wanted.functions != null || wanted.function_call != null) {
    refuse(wanted.functions != null ? 'functions' : 'function_call', 'is no longer in use: send "tools" and "tool_choice".')
  }
  if ((wanted.n ?? 1) !== 1) refuse('n', 'must be 1: there is one answer.')
  if (wanted.logprobs) refuse('logprobs', 'is not supported: leave it out.')
  if (wanted.modalities?.some((each) => each !== 'text')) refuse('modalities', 'can only be ["text"].')
  const { tools, forced, isRequired } = chosenTools(wanted, fields)
  const object = forced === undefined ? objectOf(wanted, fields) : { schema: inputOf(forced) }
  const offered = forced === undefined ? tools : []
  const { messages, answered } = await readMessages(wanted.messages, loadPicture, fields)
  const mustCall = offered.length > 0 && isRequired
  const instructions = [
    ...mustCall ? [MUST_CALL] : [],
    ...offered.length > 0 && wanted.parallel_tool_calls === false ? [ONE_CALL] : []
  ]
  const limit = wanted.max_completion_tokens ?? wanted.max_tokens
  return {
    body: {
      messages,
      cwd: wanted.cwd || undefined,
      options: {
        interactive: false,
        ...offered.length > 0 && { appTools: offered, app: OPENAI_APP },
        object,
        instructions: instructions.join(' ') || undefined,
        maxOutputTokens: limit || undefined,
        effort: wanted.reasoning_effort ? effortOf(wanted.reasoning_effort, fields) : undefined
      }
    },
    answered,
    tools: offered.map(({ name }) => name),
    object: object && { toolName: forced?.name },
    mustCall,
    fields
  }
}

function effortOf (effort: string, fields: FieldNames): Effort {
  return EFFORTS.includes(effort) ? effort as Effort : refuse(fields.effort, `must be one of ${EFFORTS.join(', ')}.`)
}

/**
 * Converts a tool of the caller to an application tool. The caller executes the tool and decides whether to do so, so no approval is
 * requested here.
 */
function toAppTool ({ type, function: tool }: ChatTool, where: string): AppTool {
  if (type !== 'function' || tool === undefined) {
    return refuse(where.replace(/\.function$/, ''), 'must be of type "function": other tools cannot be used here.')
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) refuse(`${where}.name`, 'must be up to 64 letters, digits, _ and -.')
  return {
    name: tool.name,
    description: (tool.description || tool.name).slice(0, 8_192),
    inputSchema: { type: 'object', properties: {}, ...tool.parameters },
    effect: 'read'
  }
}

/** The tools that can be called, the one that must be called, and whether any of them must be called. */
interface ChosenTools {
  tools: AppTool[]
  forced?: AppTool
  isRequired: boolean
}

/**
 * Returns the tools that a request offers. A tool must be called if `tool_choice` names it, or if a call is required and it is the only
 * tool.
 */
function chosenTools ({ tools: wanted, tool_choice: choice }: ChatCompletionBody, fields: FieldNames): ChosenTools {
  const tools = (wanted ?? []).map((tool, at) => toAppTool(tool, fields.tool(at)))
  const among = (few: AppTool[], isRequired: boolean): ChosenTools =>
    ({ tools: few, forced: isRequired && few.length === 1 ? few[0] : undefined, isRequired })
  switch (typeof choice === 'object' ? choice?.type : choice) {
    case 'none':
      return among([], false)
    case undefined:
    case 'auto':
      return among(tools, false)
    case 'required':
      return among(tools, true)
    case 'function':
      return among([toolNamed((choice as ToolChoice).function?.name, tools)], true)
    case 'allowed_tools': {
      const { tools: named = [], mode = 'auto' } = (choice as ToolChoice).allowed_tools ?? {}
      if (mode !== 'auto' && mode !== 'required') refuse('tool_choice', 'must have the mode auto or required.')
      if (mode === 'required' && named.length === 0) refuse('tool_choice', 'requires a call, and names no tool for it.')
      const few = new Set(named.map((each) => toolNamed(each.function?.name, tools)))
      return among(tools.filter((tool) => few.has(tool)), mode === 'required')
    }
    default:
      return refuse('tool_choice', CHOICES)
  }
}

const toolNamed = (wanted: string | undefined, tools: AppTool[]): AppTool =>
  tools.find(({ name }) => name === wanted) ?? refuse('tool_choice', 'names a function that is not in tools.')

/** Returns the input schema of a tool, with a description that says what the tool does. */
const inputOf = ({ name, description, inputSchema }: AppTool): Record<string, unknown> =>
  ({ description: `The input of ${name}: ${description}`, ...inputSchema })

function objectOf ({ response_format: format }: ChatCompletionBody, fields: FieldNames): RunOptions['object'] {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined
    case 'json_object':
      return { schema: { type: 'object', additionalProperties: true } }
    case 'json_schema': {
      const schema = format.json_schema?.schema as Record<string, unknown> | undefined
      return { schema: schema ?? refuse(fields.schema, 'is missing.') }
    }
    default:
      return refuse(`${fields.format}.type`, 'must be text, json_object or json_schema.')
  }
}

/** The limits for the pictures of a request that are loaded from the web: how many more are loaded at most, and how large they can be. */
interface Pictures {
  left: number
  /** The number of base64 characters that are still allowed. */
  room: number
  load: LoadPicture
}

type Message = ChatRequest['body']['messages'][number]

async function readMessages (
  wanted: ChatMessage[],
  loadPicture: LoadPicture,
  fields: FieldNames
): Promise<{ messages: Message[], answered: string[] }> {
  const names = new Map<string, string>()
  const messages: Message[] = []
  const pictures: Pictures = { left: MOST_PICTURES, room: MOST_DATA, load: loadPicture }
  let results: object[] = []
  for (const [n, message] of wanted.entries()) {
    const where = fields.message(n)
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
        const toolCallId = message.tool_call_id ?? refuse(`${where}.${fields.call}`, 'is missing.')
        const toolName = names.get(toolCallId) ?? refuse(`${where}.${fields.call}`, 'matches no tool call in the messages before it.')
        // The results of one answer are one message, as in stored conversations.
        if (results.length === 0) messages.push({ role: 'tool', content: results = [] })
        results.push({ type: 'tool-result', toolCallId, toolName, output: outputOf(textOf(message, where)) })
        break
      }
      default:
        refuse(`${where}.role`, 'must be developer, system, user, assistant or tool.')
    }
  }
  if (messages.length === 0) refuse(fields.message(0), 'says nothing, and there is no other message: send one of the user.')
  // If there are only instructions, the last one is the user's request.
  const last = messages.at(-1)
  if (last?.role === 'system' && messages.every(({ role }) => role === 'system')) last.role = 'user'
  return { messages, answered: results.map((result) => (result as { toolCallId: string }).toolCallId) }
}

function toCall ({ id, function: called }: NonNullable<ChatMessage['tool_calls']>[number], where: string) {
  if (called === undefined) return refuse(where, 'must be the call of a function.')
  return { type: 'tool-call', toolCallId: id, toolName: called.name, input: parsed(called.arguments) ?? { arguments: called.arguments } }
}

/** Returns the output of a tool result: an object if the text is a JSON object, else the text. */
function outputOf (text: string) {
  const value = parsed(text)
  return value === undefined ? { type: 'text', value: text } : { type: 'json', value }
}

/** Returns the object in a JSON text; undefined for anything else. */
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
      if (pictures.left-- === 0) refuse(`${where}.image_url.url`, `is one of more than ${MOST_PICTURES}: send pictures as data: URLs.`)
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

/** The fixed beginning of the lines that the service adds to an answer. */
const OPENING = '[Note: '

/** Returns a line that the service adds to an answer. */
export const note = (text: string): string => `${OPENING}${text.replaceAll(']', ')')}]`

const NOTES = /\n*\[Note: [^\]\n]*\](?=\n|$)/g

/**
 * Returns the text of an answer without the notes of the service. The stored conversation, which has the text as the model wrote it, is
 * found by this text.
 */
const withoutNotes = (text: string): string => text.includes(OPENING) ? text.replace(NOTES, '').trimStart() : text
