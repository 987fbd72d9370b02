import type { ModelInfo } from '../provider.ts'

/** The most characters of an id, and of a name. */
const LONGEST_NAME = 200

/** Returns the entries of a model list, the array under `field`. Throws a SyntaxError when the text holds none. */
export function entriesOf (text: string, field: string): Array<Record<string, unknown>> {
  const entries: unknown = JSON.parse(text)?.[field]
  if (!Array.isArray(entries)) throw new SyntaxError('no list of models')
  return entries.filter((entry) => typeof entry === 'object' && entry !== null)
}

interface Entry {
  provider: string
  id: unknown
  name?: unknown
  /** The context window in tokens. */
  tokens?: unknown
}

/** Returns a list with the model as an entry of the service's own list; an empty list if the id cannot be used. */
export function modelInfo ({ provider, id: model, name, tokens }: Entry): ModelInfo[] {
  const id = `${provider}/${model}`
  if (typeof model !== 'string' || !/^\S+$/.test(model) || id.length > LONGEST_NAME) return []
  return [{
    id,
    name: (typeof name === 'string' && name !== '' ? name : model).slice(0, LONGEST_NAME),
    provider,
    ...(Number.isSafeInteger(tokens) && Number(tokens) > 0 && { contextWindow: Number(tokens) })
  }]
}

/** Types of models that cannot hold a conversation. Only some servers give the type of a model. */
const OTHER_TYPES = /embed|rerank|image|audio|speech|transcri|moderation/i

type CompatibleEntry = Record<string, any>

/**
 * Reads the models from an OpenAI-compatible `GET /models` answer, including the fields that particular servers add.
 * Throws a SyntaxError when the text holds no list.
 */
export function readModelList (text: string, provider: string): ModelInfo[] {
  const body = JSON.parse(text)
  const entries: unknown = Array.isArray(body) ? body : body?.data ?? body?.models
  if (!Array.isArray(entries)) throw new SyntaxError('no list of models')
  return entries.flatMap((entry: CompatibleEntry) => {
    if (typeof entry?.type === 'string' && OTHER_TYPES.test(entry.type)) return []
    const tokens = [
      entry?.context_length, // OpenRouter, Together
      entry?.context_window, // Groq
      entry?.max_model_len, // vLLM
      entry?.max_context_length, // LM Studio, Mistral
      entry?.meta?.n_ctx_train // llama.cpp
    ].find((size) => Number.isSafeInteger(size) && size > 0)
    const name = [entry?.name, entry?.display_name].find((each) => typeof each === 'string' && each !== '')
    return modelInfo({ provider, id: entry?.id, name, tokens }).map((info) => ({ ...info, ...pricingOf(entry.pricing) }))
  })
}

/** Reads prices in US dollars a token, as OpenRouter gives them. Other servers use other names and units. */
function pricingOf (pricing: CompatibleEntry | undefined): Pick<ModelInfo, 'pricing'> {
  const { prompt, completion } = pricing ?? {}
  return typeof prompt === 'string' && typeof completion === 'string' ? { pricing: { input: prompt, output: completion } } : {}
}
