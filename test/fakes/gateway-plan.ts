import type { IncomingHttpHeaders } from 'node:http'

/** A model call as a fake model server received it. */
export interface ModelRequest {
  path: string
  headers: IncomingHttpHeaders
  /** The parsed JSON body; undefined for a request for the list of models. */
  body: any
  modelId: string
  streaming: boolean
  /** The name of the response format of a structured call; '' if the format has no name. */
  structured?: string
  /** The time of arrival, in milliseconds since the Unix epoch. */
  at: number
  /** Settles when the response is over: `finished` by the server, or `aborted` by the caller. */
  ended: Promise<'finished' | 'aborted'>
}

/** The response of a fake model server to one call. All fields are optional. The stream parts are sent in the order of the fields. */
export interface Plan {
  /** Milliseconds before the status line of the response is sent. */
  delayMs?: number
  /** Sends this error instead; `body` replaces the gateway's own error JSON. */
  error?: { status: number, type?: string, message?: string, param?: unknown, headers?: Record<string, string>, body?: string }
  reasoning?: string | string[]
  /**
   * Data that the provider attaches to its reasoning and wants back unchanged: a signature, or the encrypted reasoning. Not used by the
   * gateway.
   */
  signature?: string
  /** A block of reasoning that only the provider can read. Only Anthropic has such blocks. */
  redacted?: string
  /** The response is meaningless JSON of this many bytes, sent as fast as the client reads it. */
  bytes?: number
  /** A string is split into words. An array gives the deltas as they are; use a long array for a huge answer. */
  text?: string | string[]
  toolCalls?: Array<{ toolName: string, input: unknown, toolCallId?: string }>
  /** A structured answer, sent as JSON text. */
  object?: unknown
  /** The whole text of the answer to a structured call, valid JSON or not. */
  structuredText?: string
  /** Raw stream parts, sent instead of all fields above. */
  parts?: unknown[]
  finishReason?: string
  /** `inputTokens` includes cached and cache-written tokens, `outputTokens` includes reasoning tokens. Only the gateway sends `cost`. */
  usage?: {
    inputTokens: number
    outputTokens: number
    cachedInputTokens?: number
    cacheWriteTokens?: number
    reasoningTokens?: number
    cost?: string
  }
  /** Milliseconds between two stream parts. With 0 or without this field, all parts are sent at once. */
  partMs?: number
  /** Puts the time of sending (milliseconds since the Unix epoch, with a fraction) and a space before each text delta. Needs `partMs`. */
  stamp?: boolean
  /** An improper end of the stream, after its first `after` parts (by default, all but the finish part). */
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

/** Returns the token counts of a call's plan. `text` is the number of output tokens if the plan names none. */
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

/** Returns the stream parts in the gateway's wire format (the AI SDK's V4 stream parts). */
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

/** Returns the response body of a call without streaming. */
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

/** Returns the default answer to a structured call whose plan names none. */
export function structuredAnswer (name: string | undefined): unknown {
  if (name === 'evaluation') return { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }
  if (name === 'task-memory') return { findings: [], decisions: [] }
  if (name === 'summary') return { summary: 'They talked of many things.' }
  return { complexity: 'simple', timeWords: '', thinking: 'A short question that needs a short answer.' }
}
