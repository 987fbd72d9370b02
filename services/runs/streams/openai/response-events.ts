import type { ChatCompletionChunk, ChatError, ChatUsage } from '../../../../schemas/openai.ts'
import type { Response, ResponseBody, ResponseEvent, ResponseItem } from '../../../../schemas/responses.ts'
import { type ChatAnswer, createChatReader } from './chat-chunks.ts'
import type { Encoder } from '../encoder.ts'

type Answer = Pick<ChatAnswer, 'runId' | 'model' | 'created'>
type Choice = ChatCompletionChunk['choices'][number]
type Delta = Choice['delta']

const usageOf = (used: ChatUsage): Response['usage'] => ({
  input_tokens: used.prompt_tokens,
  input_tokens_details: { ...used.prompt_tokens_details, cache_write_tokens: 0 },
  output_tokens: used.completion_tokens,
  output_tokens_details: used.completion_tokens_details,
  total_tokens: used.total_tokens
})

/** Returns a response without its output. It contains the settings of the request, as OpenAI's responses do. */
const emptyResponse = ({ runId, model, created }: Answer, wanted: ResponseBody): Response => ({
  id: `resp_${runId}`,
  object: 'response',
  created_at: created,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  model,
  output: [],
  usage: null,
  ...{ instructions: wanted.instructions ?? null, max_output_tokens: wanted.max_output_tokens ?? null, metadata: wanted.metadata ?? {} },
  ...{ parallel_tool_calls: wanted.parallel_tool_calls ?? true, previous_response_id: null, store: false, background: false },
  ...{ reasoning: { effort: wanted.reasoning?.effort ?? null, summary: null }, text: { format: wanted.text?.format ?? { type: 'text' } } },
  ...{ tool_choice: wanted.tool_choice ?? 'auto', tools: wanted.tools ?? [], temperature: null, top_p: null, truncation: 'disabled' }
})

/** The item to which text is being added. */
interface Growing {
  kind: 'text' | 'refusal' | 'reasoning'
  item: ResponseItem
  text: string
}

/** A response that is being built, and the events that its reader has not got yet. */
interface Making {
  runId: string
  response: Response
  events: ResponseEvent[]
  sequence: number
  growing?: Growing
}

const make = (answer: Answer, wanted: ResponseBody): Making =>
  ({ runId: answer.runId, response: emptyResponse(answer, wanted), events: [], sequence: 0 })

function emit (making: Making, type: string, fields: object): void {
  making.events.push({ type, sequence_number: making.sequence++, ...fields })
}

const placeOf = ({ growing, response }: Making) => ({ item_id: growing?.item.id, output_index: response.output.length - 1 })

function beginItem (making: Making, kind: Growing['kind']): Growing {
  const { runId, response: { output } } = making
  const id = `${runId}_${output.length}`
  const item: ResponseItem = kind === 'reasoning'
    ? { type: 'reasoning', id: `rs_${id}`, summary: [], status: 'in_progress' }
    : { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'in_progress', content: [] }
  const growing: Growing = making.growing = { kind, item, text: '' }
  output.push(item)
  emit(making, 'response.output_item.added', { output_index: output.length - 1, item: structuredClone(item) })
  const part = kind === 'reasoning' ? 'response.reasoning_summary_part.added' : 'response.content_part.added'
  emit(making, part, { ...placeOf(making), ...EVENTS[kind].index, part: partOf(kind, '') })
  return growing
}

function growItem (making: Making, kind: Growing['kind'], text: string): void {
  if (making.growing?.kind !== kind) endItem(making)
  const growing = making.growing ?? beginItem(making, kind)
  growing.text += text
  const { type, index } = EVENTS[kind]
  emit(making, `${type}.delta`, { ...placeOf(making), ...index, delta: text, ...kind === 'text' && { logprobs: [] } })
}

function endItem (making: Making, status: ResponseItem['status'] = 'completed'): void {
  const { growing, response: { output } } = making
  if (growing === undefined) return
  const { kind, item, text } = growing
  const { type, index, field } = EVENTS[kind]
  const part = partOf(kind, text)
  const place = { ...placeOf(making), ...index }
  emit(making, `${type}.done`, { ...place, [field]: text, ...kind === 'text' && { logprobs: [] } })
  emit(making, kind === 'reasoning' ? 'response.reasoning_summary_part.done' : 'response.content_part.done', { ...place, part })
  item.status = status
  if (item.type === 'reasoning') item.summary = [part as (typeof item.summary)[number]]
  if (item.type === 'message') item.content = [part as (typeof item.content)[number]]
  emit(making, 'response.output_item.done', { output_index: output.length - 1, item })
  making.growing = undefined
}

function addCall (making: Making, { id: callId, function: { name, arguments: text } }: NonNullable<Delta['tool_calls']>[number]): void {
  endItem(making)
  const { runId, response: { output } } = making
  const item = { type: 'function_call' as const, id: `fc_${runId}_${output.length}`, call_id: callId, name }
  const at = { item_id: item.id, output_index: output.length }
  const whole: ResponseItem = { ...item, arguments: text, status: 'completed' }
  output.push(whole)
  emit(making, 'response.output_item.added', { output_index: at.output_index, item: { ...item, arguments: '', status: 'in_progress' } })
  emit(making, 'response.function_call_arguments.delta', { ...at, delta: text })
  emit(making, 'response.function_call_arguments.done', { ...at, name, arguments: text })
  emit(making, 'response.output_item.done', { output_index: at.output_index, item: whole })
}

function endResponse (making: Making, reason: NonNullable<Choice['finish_reason']>): void {
  const { response } = making
  if (response.status === 'failed') return
  const cause = reason === 'length' ? 'max_output_tokens' : reason === 'content_filter' ? reason : undefined
  endItem(making, cause === undefined ? 'completed' : 'incomplete')
  response.status = cause === undefined ? 'completed' : 'incomplete'
  response.incomplete_details = cause === undefined ? null : { reason: cause }
}

function failResponse (making: Making, { error }: ChatError): void {
  endItem(making, 'incomplete')
  making.response.status = 'failed'
  making.response.error = { code: error.code ?? 'server_error', message: error.message }
}

/** Converts a chunk of an answer to events of the response, in the order in which OpenAI sends them. */
function readChunk (making: Making, chunk: ChatCompletionChunk | ChatError): void {
  if ('error' in chunk) return failResponse(making, chunk)
  const { response } = making
  for (const { delta, finish_reason: reason } of chunk.choices) {
    if (delta.role !== undefined) {
      emit(making, 'response.created', { response: structuredClone(response) })
      emit(making, 'response.in_progress', { response: structuredClone(response) })
    }
    if (delta.reasoning_content) growItem(making, 'reasoning', delta.reasoning_content)
    if (delta.content) growItem(making, 'text', delta.content)
    if (delta.refusal) growItem(making, 'refusal', delta.refusal)
    for (const each of delta.tool_calls ?? []) addCall(making, each)
    if (reason !== null) endResponse(making, reason)
  }
  if (chunk.usage == null) return
  response.usage = usageOf(chunk.usage)
  emit(making, `response.${response.status}`, { response })
}

const EVENTS = {
  text: { type: 'response.output_text', index: { content_index: 0 }, field: 'text' },
  refusal: { type: 'response.refusal', index: { content_index: 0 }, field: 'refusal' },
  reasoning: { type: 'response.reasoning_summary_text', index: { summary_index: 0 }, field: 'text' }
}

function partOf (kind: Growing['kind'], text: string) {
  switch (kind) {
    case 'text':
      return { type: 'output_text', text, annotations: [], logprobs: [] }
    case 'refusal':
      return { type: 'refusal', refusal: text }
    case 'reasoning':
      return { type: 'summary_text', text }
  }
}

/** Creates the encoder of a streamed response: one Server-Sent Event for each change, named by its type. */
export function createResponseEncoder (answer: ChatAnswer, wanted: ResponseBody): Encoder {
  const readEvent = createChatReader(answer)
  const making = make(answer, wanted)
  return {
    headers: {},
    render (events) {
      for (const chunk of events.flatMap(readEvent)) readChunk(making, chunk)
      return making.events.splice(0).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    },
    end: ''
  }
}

/** Builds the complete response from the chunks of an answer, as a client of the stream would. */
export function responseOf (chunks: readonly ChatCompletionChunk[], answer: Answer, wanted: ResponseBody): Response {
  const making = make(answer, wanted)
  for (const chunk of chunks) readChunk(making, chunk)
  return making.response
}
