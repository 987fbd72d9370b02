import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Config } from '../../schemas/config.ts'
import type { Usage } from '../../schemas/usage.ts'
import { roundUsd } from './usage-sums.ts'

/** US dollars a token. Absent prices of cached and written tokens are those of other input tokens. */
export interface Price {
  input: number
  output: number
  cachedInput?: number
  cacheWrite?: number
  /** The day of the service's own price table, such as 2026-01-31, if the price is from that table. */
  estimateOf?: string
}

/** Prices as lists of models give them: decimal numbers in US dollars a token. */
interface ListedPrice {
  input?: string
  output?: string
  cachedInput?: string
  cacheWrite?: string
  estimateOf?: string
}

export type Prices = ReturnType<typeof createPrices>

/** The unit of the prices in config.json, tokens. */
const MILLION = 1_000_000
/** The highest cost of one call, or of one token, that is believed; US dollars. */
const MOST_USD = 1_000_000
const FREE: Price = { input: 0, output: 0 }

/** Creates the look-up of prices: those of the configuration, by model and then by provider, before those of the provider's list. */
export function createPrices ({ config, listed }: {
  config: () => Pick<Config, 'prices'>
  /** Returns the price in the provider's list; undefined when there is none, or when the list cannot be read. */
  listed: (model: string) => Promise<ListedPrice | undefined>
}) {
  return {
    /** Returns the price of a model; undefined when it is unknown. Models of the service itself are free. */
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

/** Returns what a call costs at a price, US dollars. */
export function costAt (
  { input, output, cachedInput = input, cacheWrite = input }: Price,
  { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens }: Usage
): number {
  const others = Math.max(inputTokens - cachedInputTokens - cacheWriteTokens, 0)
  return roundUsd(others * input + cachedInputTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output)
}

/** Returns the cost that the gateway reports with its answer, US dollars; undefined for all others. */
export const costReported = (metadata: SharedV4ProviderMetadata | undefined): number | undefined => amount(metadata?.gateway?.cost)

/**
 * Reads an amount of money: a number, or a decimal number as text. An amount that cannot be true counts as none, because JSON has no
 * infinite sums.
 */
function amount (value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number <= MOST_USD ? number : undefined
}
