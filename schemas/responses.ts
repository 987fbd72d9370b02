import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'
import { inDocument } from './ids.ts'
import { FUNCTION_NAME } from './openai.ts'

/**
 * The part of OpenAI's Responses API that this service reads and writes. Requests can hold other fields; docs/openai.md lists those without
 * effect. https://platform.openai.com/docs/api-reference/responses
 */
const open = { additionalProperties: true }
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Anything = Type.Object({}, open)

const InputPart = Type.Unsafe<{ type: string, [field: string]: unknown }>(Type.Object({ type: Type.String() }, open))
const Content = Type.Union([Type.String(), Type.Array(InputPart)])
const InputItem = Type.Object({
  type: nullable(Type.String({
    ...inDocument({ enum: ['message', 'function_call', 'function_call_output', 'reasoning'] }),
    description: 'message if absent'
  })),
  role: Type.Optional(Type.String({ description: 'Of a message: developer, system, user or assistant' })),
  content: nullable(Content),
  call_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  arguments: Type.Optional(Type.String({ description: 'JSON' })),
  output: Type.Optional(Content)
}, open)
export type ResponseInputItem = Static<typeof InputItem>

const Tool = Type.Object({
  type: Type.String(inDocument({ enum: ['function'] })),
  name: Type.Optional(Type.String(FUNCTION_NAME)),
  description: nullable(Type.String()),
  parameters: nullable(Anything)
}, open)

const Format = Type.Object({
  type: Type.String(inDocument({ enum: ['text', 'json_object', 'json_schema'] })),
  schema: Type.Optional(Anything)
}, open)

const Choice = Type.Object({
  type: Type.String(inDocument({ enum: ['function', 'allowed_tools'] })),
  name: Type.Optional(Type.String()),
  mode: Type.Optional(Type.String({ ...inDocument({ enum: ['auto', 'required'] }), description: 'Of allowed_tools' })),
  tools: Type.Optional(Type.Array(Type.Object({ type: Type.String(), name: Type.Optional(Type.String()) }, open)))
}, open)

export const ResponseBodySchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200, description: 'The name of an agent, or `<provider>/<model>`' }),
  input: Type.Optional(Type.Union([Type.String(), Type.Array(InputItem, { maxItems: 25_000 })], { description: 'The whole conversation' })),
  instructions: nullable(Type.String()),
  stream: nullable(Type.Boolean()),
  tools: nullable(Type.Array(Tool, { description: 'Tools of the caller, which it executes itself' })),
  tool_choice: nullable(Type.Union([Type.String(), Choice])),
  parallel_tool_calls: nullable(Type.Boolean()),
  text: nullable(Type.Object({ format: nullable(Format) }, open)),
  max_output_tokens: nullable(Type.Integer({ minimum: 1 })),
  reasoning: nullable(Type.Object({
    effort: nullable(Type.String({ description: 'none, minimal, low, medium, high, xhigh or max' }))
  }, open)),
  metadata: nullable(Type.Record(Type.String(), Type.String(), { description: 'Sent back in the answer' })),
  previous_response_id: nullable(Type.String({ description: 'Refused: nothing is kept, send the whole conversation as input' })),
  conversation: nullable(Type.Union([Type.String(), Type.Object({ id: Type.Optional(Type.String()) }, open)], {
    description: 'Refused, as previous_response_id'
  })),
  background: nullable(Type.Boolean({ description: 'Only false is possible' })),
  prompt: nullable(Type.Object({}, { ...open, description: 'Refused: there are no stored prompts' })),
  cwd: nullable(Type.String({ minLength: 1, description: 'Not of OpenAI: the working directory, as in `POST /run`' }))
}, {
  $id: 'ResponseBody',
  additionalProperties: true,
  description: "A conversation in the format of OpenAI's responses",
  examples: [{ model: 'offline/assistant', input: 'system info' }]
})
export type ResponseBody = Static<typeof ResponseBodySchema>

const Status = oneOf(['in_progress', 'completed', 'incomplete'])
const OutputText = Type.Object({
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Anything),
  logprobs: Type.Array(Anything)
})
const Refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() })
const MessageItem = Type.Object({
  type: Type.Literal('message'),
  id: Type.String(),
  role: Type.Literal('assistant'),
  status: Status,
  content: Type.Array(Type.Union([OutputText, Refusal]))
})
const CallItem = Type.Object({
  type: Type.Literal('function_call'),
  id: Type.String(),
  call_id: Type.String(),
  name: Type.String(),
  arguments: Type.String({ description: 'JSON' }),
  status: Status
})
const ReasoningItem = Type.Object({
  type: Type.Literal('reasoning'),
  id: Type.String(),
  summary: Type.Array(Type.Object({ type: Type.Literal('summary_text'), text: Type.String() })),
  status: Status
})
const OutputItem = Type.Union([MessageItem, CallItem, ReasoningItem])
export type ResponseItem = Static<typeof OutputItem>

const ResponseUsage = Type.Object({
  input_tokens: Type.Integer(),
  input_tokens_details: Type.Object({ cached_tokens: Type.Integer(), cache_write_tokens: Type.Integer() }),
  output_tokens: Type.Integer(),
  output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
  total_tokens: Type.Integer()
}, { description: 'Tokens of all model calls for this answer' })

export const ResponseSchema = Type.Object({
  id: Type.String({ description: '`resp_` and the id of the run' }),
  object: Type.Literal('response'),
  created_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
  status: oneOf(['in_progress', 'completed', 'incomplete', 'failed']),
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
  incomplete_details: Type.Union([Type.Object({ reason: oneOf(['max_output_tokens', 'content_filter']) }), Type.Null()]),
  model: Type.String({ description: 'The name in the request' }),
  output: Type.Array(OutputItem),
  usage: Type.Union([ResponseUsage, Type.Null()])
}, {
  $id: 'Response',
  additionalProperties: true,
  description: 'The answer in one piece, with the settings of its request',
  examples: [{
    id: 'resp_01a1fd98-ca04-739b-856a-7f12991dd0d6',
    object: 'response',
    created_at: 1_795_745_928,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'offline/assistant',
    output: [{
      type: 'message',
      id: 'msg_01a1fd98-ca04-739b-856a-7f12991dd0d6_0',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'This computer runs linux.', annotations: [], logprobs: [] }]
    }],
    usage: null
  }]
})
export type Response = Static<typeof ResponseSchema>

export const ResponseEventSchema = Type.Object({
  type: Type.String({ description: 'Such as response.created, response.output_text.delta and response.completed' }),
  sequence_number: Type.Integer({ description: 'Counted from 0' })
}, {
  $id: 'ResponseEvent',
  additionalProperties: true,
  description: "An event of a streamed answer, with the fields that OpenAI's event of this type has",
  examples: [{
    ...{ type: 'response.output_text.delta', sequence_number: 4, item_id: 'msg_01a1fd98-ca04-739b-856a-7f12991dd0d6_0' },
    ...{ output_index: 0, content_index: 0, delta: 'This ', logprobs: [] }
  }]
})
export type ResponseEvent = Static<typeof ResponseEventSchema>
