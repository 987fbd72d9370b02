import type { IncomingHttpHeaders } from 'node:http'

/** A call as a fake model server received it. */
export interface ModelRequest {
  path: string
  headers: IncomingHttpHeaders
  /** The parsed JSON body; undefined for a listing. */
  body: any
  modelId: string
  streaming: boolean
  /** The name of the response format when the call is structured ('' when it has none). */
  structured?: string
  /** When it arrived, epoch milliseconds. */
  at: number
  /** Settles when the answer is over: `finished` by us, or `aborted` by the caller. */
  ended: Promise<'finished' | 'aborted'>
}

/** What a fake model server answers to one call. Everything is optional; parts leave in the order of the fields. */
export interface Plan {
  /** Milliseconds before the answer's status line. */
  delayMs?: number
  /** Answers with this error instead; `body` replaces the gateway's own error JSON. */
  error?: { status: number, type?: string, message?: string, param?: unknown, headers?: Record<string, string>, body?: string }
  reasoning?: string | string[]
  /** What the provider attaches to its reasoning and wants back: a signature, or the reasoning encrypted. Not for the gateway. */
  signature?: string
  /** A block of reasoning that only the provider can read. Anthropic alone. */
  redacted?: string
  /** The answer is JSON of this many bytes that means nothing, sent as fast as it is taken. */
  bytes?: number
  /** A string is cut into words, an array gives the deltas as they are (make it long for a huge answer). */
  text?: string | string[]
  toolCalls?: Array<{ toolName: string, input: unknown, toolCallId?: string }>
  /** A structured answer: sent as JSON text. */
  object?: unknown
  /** The whole text of an answer to a structured call, JSON or not. */
  structuredText?: string
  /** Raw stream parts, sent instead of all the above. */
  parts?: unknown[]
  finishReason?: string
  /** `inputTokens` includes the cached and the written ones, `outputTokens` those of the reasoning. `cost` is the gateway's alone. */
  usage?: {
    inputTokens: number
    outputTokens: number
    cachedInputTokens?: number
    cacheWriteTokens?: number
    reasoningTokens?: number
    cost?: string
  }
  /** Milliseconds between two stream parts; 0 or absent sends all at once. */
  partMs?: number
  /** Puts the time of sending (epoch milliseconds with fraction) and a blank before each text delta. Needs partMs. */
  stamp?: boolean
  /** How the stream ends instead of properly, after its first `after` parts (default: all but the finish part). */
  ending?: 'cut' | 'stall' | 'no-finish' | 'no-done' | 'invalid-json' | { error: unknown }
  after?: number
}

let lastCall = 0
export const words = (text: string | string[]) => typeof text === 'string' ? text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text ? [text] : []) : text

const usageOf = (plan: Plan, text: number) => {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usedBy(plan, text)
  return {
    inputTokens: {
      total: inputTokens,
      noCache: inputTokens - cachedInputTokens - cacheWriteTokens,
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens
    },
    outputTokens: { total: outputTokens, text: outputTokens - reasoningTokens, reasoning: reasoningTokens }
  }
}
const metadataOf = ({ usage }: Plan) => usage?.cost === undefined ? {} : { providerMetadata: { gateway: { cost: usage.cost } } }

/** What a call uses by its plan; `text` is the number of output tokens when the plan does not say. */
export const usedBy = (plan: Plan, text = textOf(plan).length) =>
  ({ inputTokens: 10, outputTokens: text, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, ...plan.usage })

export const textOf = (plan: Plan) =>
  plan.structuredText !== undefined
    ? [plan.structuredText]
    : plan.object === undefined ? words(plan.text ?? []) : [JSON.stringify(plan.object)]
const callsOf = (plan: Plan) =>
  (plan.toolCalls ?? []).map((call) => ({
    type: 'tool-call',
    toolCallId: call.toolCallId ?? `gw_${++lastCall}`,
    toolName: call.toolName,
    input: JSON.stringify(call.input)
  }))
const finishOf = (plan: Plan) => {
  const unified = plan.finishReason ?? (plan.toolCalls?.length ? 'tool-calls' : 'stop')
  return { unified, raw: unified }
}

/** The parts of the stream, in the gateway's wire format (the AI SDK's V4 stream parts). */
export function streamParts (plan: Plan, modelId: string): unknown[] {
  if (plan.parts) return plan.parts
  const reasoning = words(plan.reasoning ?? [])
  const text = textOf(plan)
  const block = (kind: string, id: string, deltas: string[]) =>
    deltas.length === 0
      ? []
      : [{ type: `${kind}-start`, id }, ...deltas.map((delta) => ({ type: `${kind}-delta`, id, delta })), { type: `${kind}-end`, id }]
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'gen_1', modelId, timestamp: '2026-01-01T00:00:00.000Z' },
    ...block('reasoning', 'r0', reasoning),
    ...block('text', 't0', text),
    ...callsOf(plan).flatMap((call) => [
      { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName },
      { type: 'tool-input-delta', id: call.toolCallId, delta: call.input },
      { type: 'tool-input-end', id: call.toolCallId },
      call
    ]),
    { type: 'finish', finishReason: finishOf(plan), usage: usageOf(plan, text.length), ...metadataOf(plan) }
  ]
}

/** The body of a call without streaming. */
export function plainAnswer (plan: Plan): unknown {
  const reasoning = words(plan.reasoning ?? []).join('')
  const text = textOf(plan)
  return {
    content: [
      ...reasoning ? [{ type: 'reasoning', text: reasoning }] : [],
      ...text.length ? [{ type: 'text', text: text.join('') }] : [],
      ...callsOf(plan)
    ],
    finishReason: finishOf(plan),
    usage: usageOf(plan, text.length),
    ...metadataOf(plan),
    warnings: []
  }
}

/** What a call with a response format is answered when the plan does not say. */
export function structuredAnswer (name: string | undefined): unknown {
  if (name === 'evaluation') return { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }
  if (name === 'task-memory') return { findings: [], decisions: [] }
  if (name === 'summary') return { summary: 'They talked of many things.' }
  return { complexity: 'simple', timeWords: '', thinking: 'A short question that needs a short answer.' }
}
