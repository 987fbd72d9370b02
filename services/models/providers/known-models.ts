import type { Provider } from './provider.ts'
import table from './known-models.json' with { type: 'json' }

/** Facts about a maker's model, for use when neither its provider nor the configuration states them. */
interface KnownModel {
  /** Tokens. */
  contextWindow: number
  /** US dollars a token, as decimal numbers. */
  pricing: { input: string, output: string, cachedInput?: string }
  /** The day of the table, such as 2026-01-31. */
  day: string
}

const models = table.models as unknown as Record<string, [window: number, input: number, output: number, cachedShare?: number]>
const MILLION = 1_000_000
const DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/

/**
 * Returns the name of a model as the table has it: without the maker before it and the date behind it, and with a dash in versions, because
 * makers and gateways write a dash or a dot.
 */
export const knownName = (id: string): string => id.slice(id.lastIndexOf('/') + 1).toLowerCase().replace(DATE, '').replaceAll('.', '-')

/**
 * Returns the entry of a model in the table of scripts/known-models.ts. Undefined for an unknown model, and for a model on a server of the
 * user's own, which might have a smaller context window.
 */
export function knownModel (id: string, { kind, reach }: Pick<Provider, 'kind' | 'reach'>): KnownModel | undefined {
  if (kind !== 'gateway' && reach !== 'cloud') return undefined
  const name = knownName(id)
  if (!Object.hasOwn(models, name)) return undefined
  const [contextWindow, input, output, cachedShare] = models[name]
  const perToken = (price: number) => String(price / MILLION)
  const cached = cachedShare === undefined ? {} : { cachedInput: perToken(input * cachedShare) }
  return { contextWindow, pricing: { input: perToken(input), output: perToken(output), ...cached }, day: table.day }
}
