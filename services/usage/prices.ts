import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Config } from '../../schemas/config.ts'
import type { Usage } from '../../schemas/usage.ts'
import { roundUsd } from './usage-sums.ts'

/**
 * Prices in US dollars per token. Without a price of its own, a cached input token or a cache write costs the same as other input tokens.
 */
interface Price {
  input: number
  output: number
  cachedInput?: number
  cacheWrite?: number
  /** The date of the service's own price table, such as 2026-01-31, if the price comes from that table. */
  estimateOf?: string
}

/** Prices as providers' model lists give them: decimal numbers as text, in US dollars per token. */
interface ListedPrice {
  input?: string
  output?: string
  cachedInput?: string
  cacheWrite?: string
  estimateOf?: string
}

export type Prices = ReturnType<typeof createPrices>

/** The number of tokens to which a price in config.json applies. */
const MILLION = 1_000_000
/** The highest plausible cost of one call, and price of one token; US dollars. */
const MOST_USD = 1_000_000
const FREE: Price = { input: 0, output: 0 }

/** Creates the look-up of prices. The configuration comes first, by model and then by provider; then the model list of the provider. */
export function createPrices ({ config, listed }: {
  config: () => Pick<Config, 'prices'>
  /** Returns the price in the provider's model list; undefined if there is none, or if the list cannot be read. */
  listed: (model: string) => Promise<ListedPrice | undefined>
}) {
  return {
    /** Returns the price of a model; undefined if it is unknown. The offline models of the service itself are free. */
    async of (model: string): Promise<Price | undefined> {
      const configured = config().prices ?? {}
      const provider = model.slice(0, model.indexOf('/'))
      const name = [model, provider].find((name) => Object.hasOwn(configured, name))
      if (name !== undefined) return perToken(configured[name])
      return provider === 'offline' ? FREE : asNumbers(await listed(model))
    }
  }
}

function perToken ({ input, output, cachedInput, cacheWrite }: NonNullable<Config['prices']>[string]): Price {
  return {
    input: input / MILLION,
    output: output / MILLION,
    ...(cachedInput !== undefined && { cachedInput: cachedInput / MILLION }),
    ...(cacheWrite !== undefined && { cacheWrite: cacheWrite / MILLION })
  }
}

function asNumbers (price: ListedPrice | undefined): Price | undefined {
  const input = amount(price?.input)
  const output = amount(price?.output)
  if (input === undefined || output === undefined) return undefined
  const { estimateOf } = price!
  const rest = { cachedInput: amount(price?.cachedInput), cacheWrite: amount(price?.cacheWrite) }
  return { input, output, ...rest, ...(estimateOf !== undefined && { estimateOf }) }
}

/** Returns the cost of a call in US dollars. */
export function costAt (
  { input, output, cachedInput = input, cacheWrite = input }: Price,
  { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }: Usage
): number {
  const others = Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0)
  return roundUsd(others * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output)
}

/** Returns the cost in US dollars that a gateway reports in the metadata of its answer; undefined for other providers. */
export const costReported = (metadata: SharedV4ProviderMetadata | undefined): number | undefined => amount(metadata?.gateway?.cost)

/**
 * Parses an amount of US dollars: a number, or a decimal number as text. Returns undefined for anything else,
 * and for an implausible amount: below 0 or above MOST_USD.
 */
function amount (value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= MOST_USD ? number : undefined
}
