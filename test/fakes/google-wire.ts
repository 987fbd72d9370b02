import { textOf, usedBy, words, type Plan } from './gateway-plan.ts'
import type { Wire } from './model-server.ts'

const PATH = /^\/v1beta\/models\/([^:/]+):(streamGenerateContent\?alt=sse|generateContent)$/
/** Google's status names of errors, by HTTP status. */
const STATES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE'
}

/** Returns the parts of an answer's content. A thought signature is on the first call; without calls, on the last text. */
function contentOf (plan: Plan): any[] {
  const signed = plan.signature === undefined ? {} : { thoughtSignature: plan.signature }
  const texts = textOf(plan).map((text) => ({ text }))
  const calls = (plan.toolCalls ?? []).map(({ toolName, input, toolCallId }, index) => ({
    functionCall: { name: toolName, args: input, ...toolCallId && { id: toolCallId } },
    ...index === 0 && signed
  }))
  const thoughts = words(plan.reasoning ?? []).map((text) => ({ text, thought: true }))
  if (calls.length === 0 && texts.length > 0) Object.assign(texts.at(-1)!, signed)
  return [...thoughts, ...texts, ...calls]
}

const usageOf = (plan: Plan) => {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usedBy(plan)
  return {
    promptTokenCount: inputTokens,
    cachedContentTokenCount: cachedInputTokens,
    candidatesTokenCount: outputTokens - reasoningTokens,
    thoughtsTokenCount: reasoningTokens,
    totalTokenCount: inputTokens + outputTokens
  }
}

const chunk = (parts: any[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'fake',
  responseId: 'response-1'
})

/** Google's Gemini API. https://ai.google.dev/api/generate-content */
export const googleWire: Wire = {
  root: '/v1beta',
  end: '',
  keyOf: (headers) => headers['x-goog-api-key'],
  call (path, body) {
    const [, modelId, method] = PATH.exec(path) ?? []
    if (modelId === undefined) return undefined
    const isStructured = body.generationConfig?.responseMimeType === 'application/json'
    return { modelId, streaming: method.startsWith('stream'), structured: isStructured ? '' : undefined }
  },
  parts: (plan) => [
    ...contentOf(plan).map((part) => chunk([part])),
    { ...chunk([{ text: '' }], { finishReason: 'STOP' }), usageMetadata: usageOf(plan) }
  ],
  isEnd: ({ candidates }) => candidates?.[0].finishReason !== undefined,
  whole: (plan) => ({ ...chunk(contentOf(plan), { finishReason: 'STOP' }), usageMetadata: usageOf(plan) }),
  list: (models) => ({
    models: models ?? [{
      name: 'models/gemini-3.8-flash',
      displayName: 'Gemini 3.8 Flash',
      inputTokenLimit: 1_048_576,
      supportedGenerationMethods: ['generateContent']
    }]
  }),
  error: ({ status, message = 'The fake server failed', param }) => ({
    error: { code: status, message, status: STATES[status] ?? 'UNKNOWN', ...param !== undefined && { details: param } }
  })
}
