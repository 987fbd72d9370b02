import { textOf, usedBy, words, type Plan } from './gateway-plan.ts'
import type { Wire } from './model-server.ts'

let lastCall = 0
/** The number of characters of a tool's arguments in one chunk. */
const PIECE = 5

const finishOf = (plan: Plan) => (plan.finishReason ?? (plan.toolCalls?.length ? 'tool-calls' : 'stop')).replace('-', '_')

function usageOf (plan: Plan) {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usedBy(plan)
  return {
    prompt_tokens: inputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens: outputTokens,
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens
  }
}

const callsOf = (plan: Plan) =>
  (plan.toolCalls ?? []).map(({ toolName, input, toolCallId = `call_${++lastCall}` }) => ({
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: JSON.stringify(input) }
  }))

export const openAIError: Wire['error'] = ({ message = 'The fake server failed', type = 'server_error', param = null }) => ({
  error: { message, type, param, code: null }
})

/** OpenAI's chat completions. */
export const chatWire: Wire = {
  root: '/v1',
  end: 'data: [DONE]\n\n',
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  call (path, body) {
    if (path !== '/v1/chat/completions') return undefined
    const format = body.response_format
    return { modelId: body.model, streaming: body.stream === true, structured: format ? format.json_schema?.name ?? '' : undefined }
  },
  parts: (plan, { modelId, body }) => chunks(plan, modelId, body.stream_options?.include_usage === true),
  isEnd: (part) => Boolean(part.choices?.[0]?.finish_reason),
  whole: (plan, { modelId }) => completion(plan, modelId),
  list: (models) => ({ object: 'list', data: models ?? [{ id: 'llama3', object: 'model' }] }),
  error: openAIError
}

/** Returns the chunks of a streamed chat completion. A tool call's arguments come in pieces, as from OpenAI. */
export function chunks (plan: Plan, model: string, withUsage: boolean): unknown[] {
  if (plan.parts) return plan.parts
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1767225600,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }]
  })
  const calls = callsOf(plan).flatMap((call, index) => [
    chunk({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }),
    ...pieces(call.function.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  ])
  return [
    chunk({ role: 'assistant', content: '' }),
    ...words(plan.reasoning ?? []).map((piece) => chunk({ reasoning_content: piece })),
    ...textOf(plan).map((piece) => chunk({ content: piece })),
    ...calls,
    chunk({}, finishOf(plan)),
    ...withUsage ? [{ ...chunk({}), choices: [], usage: usageOf(plan) }] : []
  ]
}

/** Returns a chat completion without streaming. */
export function completion (plan: Plan, model: string): unknown {
  const calls = callsOf(plan)
  const text = textOf(plan).join('')
  const reasoning = words(plan.reasoning ?? []).join('')
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1767225600,
    model,
    choices: [{
      index: 0,
      message: {
        role: 'assistant',
        content: text || null,
        ...reasoning && { reasoning_content: reasoning },
        ...calls.length && { tool_calls: calls }
      },
      finish_reason: finishOf(plan)
    }],
    usage: usageOf(plan)
  }
}

export function pieces (text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, index) => text.slice(index * PIECE, (index + 1) * PIECE))
}
