import { JSONParseError, TypeValidationError } from '@ai-sdk/provider'
import { isObject } from '../../../lib/json.ts'
import { parseSafely } from '../safe-json.ts'

type Nullish<T> = T | null | undefined
type Text = Nullish<string>
type Fields = Record<string, unknown>

export interface ToolCallDelta {
  index?: Nullish<number>
  id?: Text
  function: { name?: Text, arguments?: Text }
  /** What Google's models attach to their calls. */
  extra_content?: Nullish<{ google?: Nullish<{ thought_signature?: Text }> }>
}

export interface Delta {
  content?: Nullish<string | Array<{ type: string, text?: unknown, thinking?: unknown }>>
  /** A text; some servers send other values, which are left out. */
  refusal?: unknown
  reasoning_content?: Text
  reasoning?: Text
  tool_calls?: Nullish<ToolCallDelta[]>
}

export interface Usage {
  prompt_tokens?: Nullish<number>
  completion_tokens?: Nullish<number>
  prompt_tokens_details?: Nullish<{ cached_tokens?: Nullish<number> }>
  completion_tokens_details?: Nullish<{
    reasoning_tokens?: Nullish<number>
    accepted_prediction_tokens?: Nullish<number>
    rejected_prediction_tokens?: Nullish<number>
  }>
}

/** One event of a chat completion, https://platform.openai.com/docs/api-reference/chat-streaming. */
export interface Chunk {
  id?: Text
  created?: Nullish<number>
  model?: Text
  choices: Array<{ delta?: Nullish<Delta>, finish_reason?: Text }>
  usage?: Nullish<Usage>
}

type ReadChunk = { chunk: Chunk } | { error: unknown }

/** Reads one event. An error that the server sent, or the reason why the event is none, comes back as `error`. */
export function readChunk (text: string): ReadChunk {
  let value
  try {
    value = parseSafely(text)
  } catch (cause) {
    return { error: new JSONParseError({ text, cause }) }
  }
  if (isChunk(value)) return 'error' in value ? { error: value.error } : { chunk: value }
  if (isObject(value) && isError(value.error)) return { error: errorFields(value.error) }
  return { error: new TypeValidationError({ value, cause: new Error('It is no chunk of a chat completion.') }) }
}
const isNumber = (value: unknown) => value == null || Number.isFinite(value)
const isText = (value: unknown) => value == null || typeof value === 'string'

/** Whether a value is absent, or an object of which all given fields pass. */
const has = (value: unknown, test: (fields: Fields) => boolean) => value == null || (isObject(value) && test(value))

const isChunk = (value: unknown): value is Chunk =>
  isObject(value) && isText(value.id) && isNumber(value.created) && isText(value.model) &&
  Array.isArray(value.choices) && value.choices.every(isChoice) && has(value.usage, isUsage)

const isChoice = (value: unknown) => isObject(value) && isText(value.finish_reason) && has(value.delta, isDelta)

const isDelta = (delta: Fields) =>
  isText(delta.reasoning_content) && isText(delta.reasoning) && (isText(delta.content) || isContent(delta.content)) &&
  (delta.role == null || delta.role === 'assistant' || delta.role === '') &&
  (delta.tool_calls == null || (Array.isArray(delta.tool_calls) && delta.tool_calls.every(isToolCall)))

const isContent = (value: unknown) => Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === 'string')

const isToolCall = (value: unknown) =>
  isObject(value) && isNumber(value.index) && isText(value.id) &&
  isObject(value.function) && isText(value.function.name) && isText(value.function.arguments) &&
  has(value.extra_content, ({ google }) => has(google, (fields) => isText(fields.thought_signature)))

const isUsage = (usage: Fields) =>
  isNumber(usage.prompt_tokens) && isNumber(usage.completion_tokens) && isNumber(usage.total_tokens) &&
  has(usage.prompt_tokens_details, (details) => isNumber(details.cached_tokens)) &&
  has(usage.completion_tokens_details, (details) =>
    isNumber(details.reasoning_tokens) && isNumber(details.accepted_prediction_tokens) && isNumber(details.rejected_prediction_tokens))

const isError = (value: unknown): value is Fields =>
  isObject(value) && typeof value.message === 'string' && isText(value.type) && (isText(value.code) || isNumber(value.code))

const errorFields = (error: Fields) =>
  Object.fromEntries(['message', 'type', 'param', 'code'].filter((name) => name in error).map((name) => [name, error[name]]))
