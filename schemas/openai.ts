import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref } from './common.ts'
import { inDocument, roleOf } from './ids.ts'

/**
 * The shapes of OpenAI's chat completions, as far as this service reads and writes them. Requests can hold more; docs/openai.md lists what
 * has no effect. https://platform.openai.com/docs/api-reference/chat
 */
const open = { additionalProperties: true }
const ANSWER = { id: 'chatcmpl-01a1fd98-ca04-739b-856a-7f12991dd0d6', created: 1_795_745_928, model: 'offline/assistant' }
const USED = {
  ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 }
}
const MODEL = { id: 'offline/assistant', object: 'model', created: 0, owned_by: 'offline' }
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Anything = Type.Object({}, open)

export const RetryHeaders = Type.Object({
  'x-stainless-retry-count': Type.Optional(Type.String({
    description: 'How often the client has sent the request before: a number above 0 gets the run of the first try'
  }))
})

const ContentPart = Type.Unsafe<{ type: string, [field: string]: unknown }>(Type.Object({ type: Type.String() }, open))
const Message = Type.Object({
  role: roleOf(['developer', 'system', 'user', 'assistant', 'tool']),
  content: Type.Optional(Type.Union([Type.String(), Type.Array(ContentPart), Type.Null()])),
  tool_calls: nullable(Type.Array(Type.Object({
    id: Type.String({ minLength: 1 }),
    function: Type.Optional(Type.Object({ name: Type.String(), arguments: Type.String() }, open))
  }, open))),
  tool_call_id: Type.Optional(Type.String())
}, open)
export type ChatMessage = Static<typeof Message>

/** The name of a tool of the caller. */
export const FUNCTION_NAME = inDocument({ pattern: '^[A-Za-z0-9_\\-]{1,64}$' })
const Tool = Type.Object({
  type: Type.String(inDocument({ enum: ['function'] })),
  function: Type.Optional(Type.Object({
    name: Type.String(FUNCTION_NAME),
    description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    parameters: Type.Optional(Type.Union([Anything, Type.Null()]))
  }, open))
}, open)
export type ChatTool = Static<typeof Tool>

const FunctionName = Type.Object({ name: Type.String() }, open)
const Choice = Type.Object({
  type: Type.String(inDocument({ enum: ['function', 'allowed_tools'] })),
  function: Type.Optional(FunctionName),
  allowed_tools: Type.Optional(Type.Object({
    mode: Type.Optional(Type.String(inDocument({ enum: ['auto', 'required'] }))),
    tools: Type.Array(Type.Object({ type: Type.String(), function: Type.Optional(FunctionName) }, open))
  }, open))
}, open)
export type ToolChoice = Static<typeof Choice>

export const ChatCompletionBodySchema = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 200, description: 'The name of an agent, or `<provider>/<model>`' }),
  messages: Type.Array(Message, { minItems: 1, maxItems: 25_000, description: 'The whole conversation' }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) }, open)),
  tools: nullable(Type.Array(Tool, { description: 'Tools of the caller, which it executes itself' })),
  tool_choice: nullable(Type.Union([Type.String(), Choice])),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(Type.Object({
    type: Type.String(inDocument({ enum: ['text', 'json_object', 'json_schema'] })),
    json_schema: Type.Optional(Type.Object({ schema: Type.Optional(Anything) }, open))
  }, open)),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  reasoning_effort: nullable(Type.String({ description: 'none, minimal, low, medium, high, xhigh or max' })),
  functions: nullable(Type.Array(Anything, { description: 'Refused: the form before `tools`' })),
  function_call: nullable(Type.Union([Type.String(), Type.Object({ name: Type.Optional(Type.String()) }, open)], {
    description: 'Refused: the form before `tool_choice`'
  })),
  n: nullable(Type.Integer({ description: 'Only 1 is possible' })),
  logprobs: nullable(Type.Boolean({ description: 'Only false is possible' })),
  modalities: nullable(Type.Array(Type.String(), { description: 'Only text is possible' })),
  cwd: nullable(Type.String({ minLength: 1, description: 'Not of OpenAI: the working directory, as in `POST /run`' }))
}, {
  $id: 'ChatCompletionBody',
  additionalProperties: true,
  description: "A conversation in the format of OpenAI's chat completions",
  examples: [{ model: 'offline/assistant', messages: [{ role: 'user', content: 'system info' }] }]
})
export type ChatCompletionBody = Static<typeof ChatCompletionBodySchema>

const ToolCall = {
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON' }) })
}
const ChatFinish = oneOf(['stop', 'length', 'content_filter', 'tool_calls'])

const TokenUsage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
  completion_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() })
}, { description: 'Tokens of all model calls for this answer' })
export type ChatUsage = Static<typeof TokenUsage>

const head = <T extends string>(object: T) => ({
  id: Type.String({ description: '`chatcmpl-` and the id of the run' }),
  object: Type.Literal(object),
  created: Type.Integer({ description: 'Seconds since the Unix epoch' }),
  model: Type.String({ description: 'The name in the request' })
})

export const ChatCompletionSchema = Type.Object({
  ...head('chat.completion'),
  choices: Type.Array(Type.Object({
    index: Type.Integer(),
    message: Type.Object({
      role: Type.Literal('assistant'),
      content: Type.Union([Type.String(), Type.Null()]),
      refusal: Type.Union([Type.String(), Type.Null()], { description: 'Why the model gives no answer of the form that was asked for' }),
      reasoning_content: Type.Optional(Type.String({ description: 'How the request is read, and what the model thought' })),
      tool_calls: Type.Optional(Type.Array(Type.Object(ToolCall)))
    }),
    logprobs: Type.Null(),
    finish_reason: ChatFinish
  })),
  usage: TokenUsage
}, {
  $id: 'ChatCompletion',
  description: 'The answer in one piece',
  examples: [{
    ...ANSWER,
    object: 'chat.completion',
    choices: [{
      index: 0,
      message: { role: 'assistant', content: 'This computer runs linux.', refusal: null },
      logprobs: null,
      finish_reason: 'stop'
    }],
    usage: USED
  }]
})
export type ChatCompletion = Static<typeof ChatCompletionSchema>

export const ChatCompletionChunkSchema = Type.Object({
  ...head('chat.completion.chunk'),
  choices: Type.Array(Type.Object({
    index: Type.Integer(),
    delta: Type.Object({
      role: Type.Optional(Type.Literal('assistant')),
      content: Type.Optional(Type.String()),
      reasoning_content: Type.Optional(Type.String()),
      refusal: Type.Optional(Type.String()),
      tool_calls: Type.Optional(Type.Array(Type.Object({ index: Type.Integer(), ...ToolCall })))
    }),
    logprobs: Type.Null(),
    finish_reason: Type.Union([ChatFinish, Type.Null()])
  })),
  usage: Type.Optional(Type.Union([TokenUsage, Type.Null()]))
}, {
  $id: 'ChatCompletionChunk',
  description: 'A piece of a streamed answer',
  examples: [{
    ...ANSWER,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'This ' }, logprobs: null, finish_reason: null }]
  }]
})
export type ChatCompletionChunk = Static<typeof ChatCompletionChunkSchema>

export const ChatModelSchema = Type.Object({
  id: Type.String({ description: 'The name for `model`' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since the Unix epoch; of a model 0' }),
  owned_by: Type.String({ description: '`agent`, or the provider of the model' })
}, { $id: 'ChatModel', description: 'An agent, or a model', examples: [MODEL] })
export type ChatModel = Static<typeof ChatModelSchema>

export const ChatModelListSchema = Type.Object({ object: Type.Literal('list'), data: Type.Array(ref(ChatModelSchema)) }, {
  $id: 'ChatModelList',
  description: 'The agents, then the models of every provider; the active model is always among them',
  examples: [{ object: 'list', data: [MODEL] }]
})
export type ChatModelList = Static<typeof ChatModelListSchema>

export const ChatErrorSchema = Type.Object({
  error: Type.Object({
    message: Type.String({ description: 'A sentence that says what went wrong and what to do' }),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()], { description: "OpenAI's code where it has one, else the code of this service, ERR_…" })
  })
}, {
  $id: 'ChatError',
  description: "An error in OpenAI's shape, on the routes under `/v1` alone",
  examples: [{
    error: {
      message: 'There is no agent and no usable model "gpt". GET /v1/models lists them.',
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found'
    }
  }]
})
export type ChatError = Static<typeof ChatErrorSchema>
