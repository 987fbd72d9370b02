import { textOf, usedBy, words, type Plan } from './gateway-plan.ts'
import type { Wire } from './model-server.ts'
import { pieces } from './openai-wire.ts'

let lastId = 0

/** The name of the tool with which older models give structured answers. */
const JSON_TOOL = 'json'

/** The content blocks of an answer. */
function blocksOf (plan: Plan, body: any): any[] {
  const reasoning = words(plan.reasoning ?? []).join('')
  const text = textOf(plan).join('')
  const asTool = plan.object !== undefined && body.tool_choice?.name === JSON_TOOL
  const tool = (name: string, input: unknown, id = `toolu_${++lastId}`) => ({ type: 'tool_use', id, name, input })
  return [
    ...reasoning || plan.signature ? [{ type: 'thinking', thinking: reasoning, signature: plan.signature ?? 'unsigned' }] : [],
    ...plan.redacted ? [{ type: 'redacted_thinking', data: plan.redacted }] : [],
    ...text && !asTool ? [{ type: 'text', text }] : [],
    ...asTool ? [tool(JSON_TOOL, plan.object)] : [],
    ...(plan.toolCalls ?? []).map(({ toolName, input, toolCallId }) => tool(toolName, input, toolCallId))
  ]
}

function deltasOf (block: any): unknown[] {
  if (block.type === 'thinking') {
    const texts = words(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking }))
    return [...texts, { type: 'signature_delta', signature: block.signature }]
  }
  if (block.type === 'text') return words(block.text).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'tool_use') {
    return pieces(JSON.stringify(block.input)).map(
      (json) => ({ type: 'input_json_delta', partial_json: json })
    )
  }
  return []
}

const EMPTY: Record<string, object> = { thinking: { thinking: '', signature: '' }, text: { text: '' }, tool_use: { input: {} } }
const stopOf = (blocks: any[]) => blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
/** Anthropic's `input_tokens` excludes tokens that are read from the cache or written to it. */
const usageOf = (plan: Plan) => {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usedBy(plan)
  return {
    input_tokens: inputTokens - cachedInputTokens - cacheWriteTokens,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedInputTokens
  }
}

function events (plan: Plan, model: string, body: any): unknown[] {
  const blocks = blocksOf(plan, body)
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${++lastId}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usageOf(plan), output_tokens: 1 }
      }
    },
    { type: 'ping' },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: { ...block, ...EMPTY[block.type] } },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index }
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: plan.finishReason ?? stopOf(blocks), stop_sequence: null },
      usage: { output_tokens: usageOf(plan).output_tokens, output_tokens_details: usageOf(plan).output_tokens_details }
    },
    { type: 'message_stop' }
  ]
}

function whole (plan: Plan, model: string, body: any): unknown {
  const content = blocksOf(plan, body)
  return {
    id: `msg_${++lastId}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: plan.finishReason ?? stopOf(content),
    stop_sequence: null,
    usage: usageOf(plan)
  }
}

/** Anthropic's Messages API. https://docs.anthropic.com/en/api/messages-streaming */
export const anthropicWire: Wire = {
  root: '/v1',
  end: '',
  render: (part) => `event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`,
  keyOf: (headers) => headers['x-api-key'],
  call (path, body) {
    if (path !== '/v1/messages') return undefined
    const isStructured = body.output_config?.format !== undefined || body.tool_choice?.name === JSON_TOOL
    return { modelId: body.model, streaming: body.stream === true, structured: isStructured ? '' : undefined }
  },
  parts: (plan, { modelId, body }) => events(plan, modelId, body),
  isEnd: ({ type }) => type === 'message_delta',
  whole: (plan, { modelId, body }) => whole(plan, modelId, body),
  list: (models) => ({
    data: models ?? [{ type: 'model', id: 'claude-sonnet-5-5', display_name: 'Claude Sonnet 5.5', created_at: '2026-06-01T00:00:00Z' }],
    has_more: false
  }),
  error: ({ message = 'The fake server failed', type = 'api_error' }) => ({ type: 'error', error: { type, message }, request_id: 'req_1' })
}
