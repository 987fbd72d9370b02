import type { ModelInfo } from '../provider.ts'

/** Characters of an id and of a name. */
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

/** Returns the entry of the service's own list; none for an unusable id. */
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
