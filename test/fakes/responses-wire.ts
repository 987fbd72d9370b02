import { textOf, usedBy, words, type Plan } from './gateway-plan.ts'
import type { Wire } from './model-server.ts'
import { openAIError, pieces } from './openai-wire.ts'

let lastItem = 0

const ENCRYPTED = 'reasoning.encrypted_content'
/** Returns the parts of a reasoning summary, one for each paragraph, each split into pieces. */
const summaryOf = ({ reasoning = [] }: Plan) => typeof reasoning === 'string' ? reasoning.split('\n\n').map(words) : [reasoning]

/** Returns the items of an answer, with ids that are unique over all answers. Reasoning is encrypted for callers that ask for it. */
function itemsOf (plan: Plan, { include = [] }: { include?: string[] }) {
  const id = (prefix: string) => `${prefix}_${++lastItem}`
  const text = textOf(plan)
  const phase = plan.toolCalls?.length ? 'commentary' : 'final_answer'
  return {
    reasoning: plan.reasoning?.length || plan.signature !== undefined
      ? [{ id: id('rs'), summary: summaryOf(plan), encrypted_content: include.includes(ENCRYPTED) ? plan.signature ?? null : null }]
      : [],
    messages: text.length > 0 ? [{ id: id('msg'), text, phase }] : [],
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

const summaryText = (pieces: string[]) => ({ type: 'summary_text', text: pieces.join('') })

function events (plan: Plan, model: string, body: any): unknown[] {
  const { reasoning, messages, calls } = itemsOf(plan, body)
  const response = { id: `resp_${++lastItem}`, created_at: 1767225600, model }
  const added = (item: object) => ({ type: 'response.output_item.added', output_index: 0, item })
  const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item })
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    ...reasoning.flatMap(({ id, summary, encrypted_content: encrypted }) => [
      added({ type: 'reasoning', id, summary: [], encrypted_content: encrypted && `${encrypted} begun` }),
      ...summary.flatMap((pieces, index) => {
        const place = { item_id: id, output_index: 0, summary_index: index }
        return [
          { type: 'response.reasoning_summary_part.added', ...place },
          ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
          { type: 'response.reasoning_summary_part.done', ...place }
        ]
      }),
      done({ type: 'reasoning', id, summary: summary.map(summaryText), encrypted_content: encrypted })
    ]),
    ...messages.flatMap(({ id, text, phase }) => [
      added({ type: 'message', id, phase, role: 'assistant', content: [] }),
      ...text.map((delta) => ({ type: 'response.output_text.delta', item_id: id, output_index: 0, content_index: 0, delta })),
      done({ type: 'message', id, phase, role: 'assistant', content: [{ type: 'output_text', text: text.join(''), annotations: [] }] })
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

function whole (plan: Plan, model: string, body: any): unknown {
  const { reasoning, messages, calls } = itemsOf(plan, body)
  return {
    id: `resp_${++lastItem}`,
    object: 'response',
    created_at: 1767225600,
    status: 'completed',
    model,
    error: null,
    incomplete_details: null,
    output: [
      ...reasoning.map(({ summary, ...item }) => ({ type: 'reasoning', ...item, summary: summary.map(summaryText) })),
      ...messages.map(({ id, text, phase }) => ({
        type: 'message',
        id,
        phase,
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
  parts: (plan, { modelId, body }) => events(plan, modelId, body),
  isEnd: ({ type }) => type === 'response.completed',
  whole: (plan, { modelId, body }) => whole(plan, modelId, body),
  list: (models) => ({ object: 'list', data: models ?? [{ id: 'gpt-6-sol', object: 'model', owned_by: 'openai' }] }),
  error: openAIError
}
