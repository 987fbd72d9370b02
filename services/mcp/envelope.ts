import type { JSONRPCErrorResponse, JSONRPCMessage, JSONRPCResultResponse, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { isObject, readJson } from '../lib/json.ts'
import { withoutStop } from './entry-view.ts'

type Json = Record<string, unknown>

/** The error code "Internal error" of JSON-RPC 2.0. */
const INTERNAL_ERROR = -32603
const LONGEST_QUOTE = 300
const LONGEST_DATA = 2_000

/** A request whose answer has not arrived yet. */
export interface PendingRequest {
  id: RequestId
  method: string
}

/** Returns an error answer to a request, as if the server had sent it. */
export const failedAnswer = (id: RequestId, message: string): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: { code: INTERNAL_ERROR, message }
})

export type Answer = JSONRPCResultResponse | JSONRPCErrorResponse

/** True if a message is the answer to a request. */
export const isAnswer = (message: JSONRPCMessage): message is Answer => 'result' in message || 'error' in message

/** Parses JSON like `readJson`, but drops the key `__proto__`: a later copy of the object could set its prototype through this key. */
export const readWithoutPrototypes = (text: string): unknown =>
  readJson(text, text.includes('__proto__') ? (key, each) => key === '__proto__' ? undefined : each : undefined)

/** Returns the beginning of a server's output, LONGEST_QUOTE characters at most, to be quoted in the error of a call. */
export const quoteOf = (text: string): string =>
  text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE).toWellFormed()}…`

/**
 * Reads a server's output as JSON-RPC messages, in the strict form that the MCP SDK accepts. The SDK would drop a message in another form,
 * and the request that the message answers would wait until its time limit. A null where the protocol has none counts as absent. An answer
 * without a result or an error becomes an error that quotes the server. Returns [] if there is no message.
 */
export const readMessages = (value: unknown): JSONRPCMessage[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) => readMessage(each) ?? [])

function readMessage (value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value)) return undefined
  const { method, params } = value
  const id = readId(value.id)
  if (typeof method !== 'string') return readAnswer(value, id)
  // Without this check, a JSON line of a log that has a "method" would count as a message.
  if (value.jsonrpc !== '2.0') return undefined
  const known = isObject(params) ? { params: id === undefined ? withMeta(params) : withoutNulls(params) as Json } : {}
  return id === undefined ? { jsonrpc: '2.0', method, ...known } : { jsonrpc: '2.0', id, method, ...known }
}

const ANSWER_KEYS = ['jsonrpc', 'id', 'result', 'error', 'method', 'params']

function readAnswer (value: Json, id: RequestId | undefined): Answer | undefined {
  const hasOutcome = 'result' in value || 'error' in value
  // An object without `jsonrpc` is an answer only if it has no other fields: a JSON line of a log can have a `result`, too.
  const isKnown = value.jsonrpc === '2.0' || (hasOutcome && Object.keys(value).every((key) => ANSWER_KEYS.includes(key)))
  if (!isKnown || (!hasOutcome && id === undefined)) return undefined
  const { error, result } = value
  const isFailed = error !== undefined && error !== null && error !== false && error !== ''
  if (isFailed) return { jsonrpc: '2.0', id, error: readError(error) }
  if (!hasOutcome) return failedAnswer(id!, `The answer has neither a result nor an error: ${quoteOf(JSON.stringify(value))}`)
  // If the answer has no id, the caller gives it the id of its request: see adoptAnswer.
  return { jsonrpc: '2.0', id: id as RequestId, result: readResult(result) }
}

/** Returns an answer without a known id as the answer to the request with this id. */
export const adoptAnswer = (message: Answer, id: RequestId): Answer => ({ ...message, id })

/** Reads an id. This service's own ids are numbers. Some servers send them back as strings, which are converted to numbers. */
function readId (id: unknown): RequestId | undefined {
  if (typeof id === 'number') return Number.isInteger(id) ? id : undefined
  if (typeof id !== 'string') return undefined
  return /^\d{1,15}$/.test(id) ? Number(id) : id
}

function readError (error: unknown): { code: number, message: string, data?: unknown } {
  if (!isObject(error)) return { code: INTERNAL_ERROR, message: typeof error === 'string' ? error : quoteOf(JSON.stringify(error)) }
  const { code, message, data = undefined, ...others } = error
  const number = typeof code === 'string' && code.trim() !== '' ? Number(code) : code
  const isOther = typeof code === 'string' && !Number.isInteger(number)
  const rest = { ...isOther && { code }, ...others }
  const words = typeof message === 'string' ? message : message === undefined || message === null ? '' : JSON.stringify(message)
  return {
    code: Number.isInteger(number) ? number : INTERNAL_ERROR,
    message: words,
    ...data !== undefined && data !== null ? { data } : Object.keys(rest).length > 0 && { data: rest }
  }
}

/** Returns the text of an error: its message, then its `data` unless the message contains it already. */
export function wordsOfError (message: string, data: unknown): string {
  const more = data === undefined || data === null ? '' : typeof data === 'string' ? data : JSON.stringify(data)
  const isNew = more !== '' && more !== '{}' && more !== '[]' && !message.includes(more)
  if (!isNew) return message.trim() === '' ? 'The server gave no reason.' : message
  const shown = more.length <= LONGEST_DATA ? more : `${more.slice(0, LONGEST_DATA).toWellFormed()}…`
  return message.trim() === '' ? shown : `${withoutStop(message)}: ${shown}`
}

/** Keys of `_meta` whose values the SDK validates. They are removed, because nothing here needs them. */
const CHECKED_META = ['progressToken', 'io.modelcontextprotocol/related-task']

/** Removes a `_meta` that is not an object, and from a valid one the keys that the SDK validates. */
function withMeta (value: Json): Json {
  if (!('_meta' in value)) return value
  const { _meta: meta, ...rest } = value
  if (!isObject(meta)) return rest
  return { ...rest, _meta: Object.fromEntries(Object.entries(meta).filter(([key]) => !CHECKED_META.includes(key))) }
}

/**
 * Reads a result. `[]` counts as an empty object, because PHP writes it so. Any other value that is not an object becomes `toolResult`, as
 * in MCP 2024-10-07.
 */
function readResult (result: unknown): Json {
  if (result === undefined || result === null || (Array.isArray(result) && result.length === 0)) return {}
  if (!isObject(result)) return { toolResult: result }
  const read = withMeta(result)
  return typeof read.protocolVersion === 'string' && read.content === undefined ? readBeginning(read) : read
}

/** Reads the answer to `initialize`. Only the protocol version is required; other fields get defaults if they are missing or malformed. */
function readBeginning ({ capabilities, serverInfo, instructions, ...rest }: Json): Json {
  const { name, version, ...about } = isObject(serverInfo) ? serverInfo : {}
  const texts = Object.entries(about).filter(([, each]) => typeof each === 'string')
  return {
    ...rest,
    capabilities: readCapabilities(capabilities),
    serverInfo: { name: textOf(name) ?? 'unknown', version: textOf(version) ?? '', ...Object.fromEntries(texts) },
    ...typeof instructions === 'string' && { instructions }
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** Reads the capabilities of a server. `true` and `[]` count as capabilities without details; null and false count as absent. */
export function readCapabilities (value: unknown): Json {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([name, offer]): Array<[string, unknown]> => {
    if (offer === true || (Array.isArray(offer) && offer.length === 0)) return [[name, {}]]
    if (!isObject(offer)) return []
    const isOpen = name === 'experimental' || name === 'extensions'
    return [[name, isOpen ? readCapabilities(offer) : detailsOf(offer)]]
  }))
}

const detailsOf = (offer: Json): Json =>
  Object.fromEntries(Object.entries(offer).flatMap(([key, each]): Array<[string, unknown]> => {
    if (typeof each === 'boolean') return [[key, each]]
    return isObject(each) ? [[key, detailsOf(each)]] : []
  }))

/** Returns a value without properties that are null, at any depth. Null items of lists stay. */
export function withoutNulls (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => each === null ? [] : [[key, withoutNulls(each)]]))
}

/** The most positions in a line at which a message is tried to be parsed. */
const MOST_BEGINNINGS = 32

/**
 * Reads the messages in one line of a server's stdout. The line is JSON, or ends with a JSON message that follows other text, such as a
 * banner or a terminal color code. `isBehind` is true if other text precedes the message; it has no meaning if there is no message.
 */
export function readLine (text: string): { messages: JSONRPCMessage[], isBehind: boolean } {
  const whole = /^[{[]/.test(text) ? readWithoutPrototypes(text) : undefined
  if (whole !== undefined) return { messages: readMessages(whole), isBehind: false }
  if (!text.endsWith('}')) return { messages: [], isBehind: false }
  let at = text.indexOf('{', 1)
  for (let tried = 0; at !== -1 && tried < MOST_BEGINNINGS; tried++, at = text.indexOf('{', at + 1)) {
    const messages = readMessages(readWithoutPrototypes(text.slice(at)))
    if (messages.length > 0) return { messages, isBehind: true }
  }
  return { messages: [], isBehind: true }
}

const FIRST_TEXT = /"text"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)/s

/** Returns the beginning of the first "text" string in `head`, the beginning of a message; undefined if there is none. */
function firstTextIn (head: string): string | undefined {
  const found = FIRST_TEXT.exec(head)?.[1].replace(/\\u[0-9a-f]{0,3}$/i, '')
  return found === undefined ? undefined : readJson(`"${found}"`)
}

/**
 * Returns the answer to a request whose real answer is too large to be read; `head` is its beginning. A tool call has had its effect by
 * then, so its answer is the readable part with a note. Other requests fail.
 */
export function answerUnread ({ id, method }: PendingRequest, { head, why }: { head: string, why: string }): Answer {
  if (method !== 'tools/call') return failedAnswer(id, why)
  const begins = firstTextIn(head)
  const note = `[${why} ${begins ? 'This is its beginning.' : 'It was left out.'} The call was made; ask for less at a time.]`
  return { jsonrpc: '2.0', id, result: { content: [...begins ? [begins] : [], note].map((text) => ({ type: 'text', text })) } }
}
