import { textOf, usedBy, words, type Plan } from './gateway-plan.ts'
import type { Wire } from './model-server.ts'
import { openAIError, pieces } from './openai-wire.ts'

let lastItem = 0

/** The items of an answer, with ids that no other answer has. */
function itemsOf (plan: Plan) {
  const id = (prefix: string) => `${prefix}_${++lastItem}`
  const reasoning = words(plan.reasoning ?? [])
  const text = textOf(plan)
  return {
    reasoning: reasoning.length > 0 || plan.signature !== undefined
      ? [{ id: id('rs'), summary: reasoning, encrypted_content: plan.signature ?? null }]
      : [],
    messages: text.length > 0 ? [{ id: id('msg'), text }] : [],
    calls: (plan.toolCalls ?? []).map(({ toolName, input, toolCallId }) => ({
      type: 'function_call' as const,
      id: id('fc'),
      call_id: toolCallId ?? id('call'),
      name: toolName,
      arguments: JSON.stringify(input)
    }))
  }
}

const usageOf = (plan: Plan) => {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usedBy(plan)
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens }
  }
}

function events (plan: Plan, model: string): unknown[] {
  const { reasoning, messages, calls } = itemsOf(plan)
  const response = { id: `resp_${++lastItem}`, created_at: 1767225600, model }
  const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item })
  const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item })
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...reasoning.flatMap(({ id, summary, encrypted_content: encrypted }) => [
      added({ type: 'reasoning', id, summary: [], encrypted_content: encrypted && `${encrypted} begun` }),
      { type: 'response.reasoning_summary_part.added', item_id: id, output_index: 0, summary_index: 0 },
      ...summary.map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        item_id: id,
        output_index: 0,
        summary_index: 0,
        delta
      })),
      { type: 'response.reasoning_summary_part.done', item_id: id, output_index: 0, summary_index: 0 },
      done({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: summary.join('') }], encrypted_content: encrypted })
    ]),
    ...messages.flatMap(({ id, text }) => [
      added({ type: 'message', id, role: 'assistant', content: [] }),
      ...text.map((delta) => ({ type: 'response.output_text.delta', item_id: id, output_index: 0, content_index: 0, delta })),
      done({ type: 'message', id, role: 'assistant', content: [{ type: 'output_text', text: text.join(''), annotations: [] }] })
    ]),
    ...calls.flatMap((call, index) => [
      { ...added({ ...call, arguments: '' }), output_index: index + 2 },
      ...pieces(call.arguments).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        item_id: call.id,
        output_index: index + 2,
        delta
      })),
      { type: 'response.function_call_arguments.done', item_id: call.id, output_index: index + 2, arguments: call.arguments },
      { ...done({ ...call, status: 'completed' }), output_index: index + 2 }
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', incomplete_details: null, usage: usageOf(plan) } }
  ].map((event, sequence) => ({ ...event, sequence_number: sequence }))
}

function whole (plan: Plan, model: string): unknown {
  const { reasoning, messages, calls } = itemsOf(plan)
  return {
    id: `resp_${++lastItem}`,
    object: 'response',
    created_at: 1767225600,
    status: 'completed',
    model,
    error: null,
    incomplete_details: null,
    output: [
      ...reasoning.map(({ summary, ...item }) => ({ type: 'reasoning', ...item, summary: [{ type: 'summary_text', text: summary.join('') }] })),
      ...messages.map(({ id, text }) => ({
        type: 'message',
        id,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: text.join(''), annotations: [] }]
      })),
      ...calls.map((call) => ({ ...call, status: 'completed' }))
    ],
    usage: usageOf(plan)
  }
}

/** OpenAI's Responses API. https://platform.openai.com/docs/api-reference/responses-streaming */
export const responsesWire: Wire = {
  root: '/v1',
  end: '',
  render: (part) => `event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`,
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  call (path, body) {
    if (path !== '/v1/responses') return undefined
    const format = body.text?.format
    return { modelId: body.model, streaming: body.stream === true, structured: format?.type === 'json_schema' ? format.name : undefined }
  },
  parts: (plan, { modelId }) => events(plan, modelId),
  isEnd: ({ type }) => type === 'response.completed',
  whole: (plan, { modelId }) => whole(plan, modelId),
  list: (models) => ({ object: 'list', data: models ?? [{ id: 'gpt-6-sol', object: 'model', owned_by: 'openai' }] }),
  error: openAIError
}
