import type { ModelInfo } from './provider.ts'

/** Types of models that hold no conversation; only some servers give the type of a model. */
const OTHER_KINDS = /embed|rerank|image|audio|speech|transcri|moderation/i
const LONGEST_ID = 200

type Entry = Record<string, any>

/**
 * Reads the models from an OpenAI-compatible `GET /models` answer, including the fields that particular servers add.
 * Throws a SyntaxError when the text holds no list.
 */
export function readModelList (text: string, provider: string): ModelInfo[] {
  const body = JSON.parse(text)
  const entries: unknown = Array.isArray(body) ? body : body?.data ?? body?.models
  if (!Array.isArray(entries)) throw new SyntaxError('no list of models')
  return entries.flatMap((entry: Entry) => {
    const id = `${provider}/${entry?.id}`
    if (typeof entry?.id !== 'string' || !/^\S+$/.test(entry.id) || id.length > LONGEST_ID) return []
    if (typeof entry.type === 'string' && OTHER_KINDS.test(entry.type)) return []
    const contextWindow = [
      entry.context_length, // OpenRouter, Together
      entry.context_window, // Groq
      entry.max_model_len, // vLLM
      entry.max_context_length, // LM Studio, Mistral
      entry.meta?.n_ctx_train // llama.cpp
    ].find((tokens) => Number.isSafeInteger(tokens) && tokens > 0)
    const name = [entry.name, entry.display_name].find((name) => typeof name === 'string' && name !== '') ?? entry.id
    return [{ id, name: name.slice(0, LONGEST_ID), provider, ...contextWindow && { contextWindow }, ...pricingOf(entry.pricing) }]
  })
}

/** Reads prices in US dollars a token, as OpenRouter gives them. Other servers use other names and units. */
function pricingOf (pricing: Entry | undefined): Pick<ModelInfo, 'pricing'> {
  const { prompt, completion } = pricing ?? {}
  return typeof prompt === 'string' && typeof completion === 'string' ? { pricing: { input: prompt, output: completion } } : {}
}
