import type { JSONObject, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from './read-chunk.ts'

/** Returns the tokens of an answer, and those of predictions that the answer took over or not. */
export function countedUsage (usage: Usage | undefined): { tokens: LanguageModelV4Usage, predictions: JSONObject } {
  if (usage === undefined) {
    return {
      tokens: {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        raw: undefined
      },
      predictions: {}
    }
  }
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: input, completion_tokens_details: output } = usage
  const total = prompt ?? 0
  const written = completion ?? 0
  const cacheRead = input?.cached_tokens ?? 0
  const reasoning = output?.reasoning_tokens ?? 0
  const { accepted_prediction_tokens: accepted, rejected_prediction_tokens: rejected } = output ?? {}
  return {
    tokens: {
      inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
      outputTokens: { total: written, text: Math.max(0, written - reasoning), reasoning },
      raw: usage as JSONObject
    },
    predictions: {
      ...accepted != null && { acceptedPredictionTokens: accepted },
      ...rejected != null && { rejectedPredictionTokens: rejected }
    }
  }
}
