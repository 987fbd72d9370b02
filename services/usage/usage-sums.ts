import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage, UsageGroup } from '../../schemas/usage.ts'

/** Returns a usage of zero: no calls, no cost. */
export const noUsage = (): Usage => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costUsd: 0
})

/** Returns the sum of two usages. The cost of the sum is unknown if one of the two costs is unknown. */
export function addUsage (a: Usage, b: Usage): Usage {
  const { costUsd, ...counts } = addCounts(a, b)
  return { ...counts, ...(a.costUsd !== undefined && b.costUsd !== undefined && { costUsd }) }
}

/**
 * The sums over several model calls. `unpricedCalls` is the number of calls without a known price; `costUsd` is the sum of the known costs.
 */
export type Tally = Omit<UsageGroup, 'key'>

/** Returns the sum of two tallies. Known costs are added up. */
export function addTally (a: Tally | undefined, b: Tally): Tally {
  if (a === undefined) return b
  const { costUsd, ...counts } = addCounts(a, b)
  return {
    calls: a.calls + b.calls,
    ...counts,
    ...((a.costUsd !== undefined || b.costUsd !== undefined) && { costUsd }),
    unpricedCalls: a.unpricedCalls + b.unpricedCalls
  }
}

/** Returns the tally of one call. */
export const tallyOf = (usage: Usage): Tally => ({ calls: 1, ...usage, unpricedCalls: usage.costUsd === undefined ? 1 : 0 })

/** Returns the usage of all calls of a tally; a usage of zero without a tally. The cost is unknown if the price of one call is unknown. */
export function totalOf (tally: Tally | undefined): Usage {
  const { calls, unpricedCalls, costUsd, ...counts } = tally ?? { calls: 0, unpricedCalls: 0, ...noUsage() }
  return { ...counts, ...(costUsd !== undefined && unpricedCalls === 0 && { costUsd }) }
}

const addCounts = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  costUsd: roundUsd((a.costUsd ?? 0) + (b.costUsd ?? 0)),
  ...((a.costEstimateOf ?? b.costEstimateOf) !== undefined && { costEstimateOf: a.costEstimateOf ?? b.costEstimateOf })
})

/** Rounds to 10^-12 US dollars, so that sums of decimal prices are what a person expects. */
export const roundUsd = (usd: number): number => Math.round(usd * 1e12) / 1e12

/** Returns the tokens that a provider reported, without a cost. A count that the provider left out is 0. */
export function tokensReported (usage: LanguageModelV4Usage | undefined): Usage {
  const input: Partial<LanguageModelV4Usage['inputTokens']> = usage?.inputTokens ?? {}
  const output: Partial<LanguageModelV4Usage['outputTokens']> = usage?.outputTokens ?? {}
  return {
    inputTokens: count(input.total),
    cachedInputTokens: count(input.cacheRead),
    cacheWriteTokens: count(input.cacheWrite),
    outputTokens: count(output.total),
    reasoningTokens: count(output.reasoning)
  }
}

/** Returns a valid count, or 0 for a missing or invalid one, because wrong numbers of a provider must not fail a complete answer. */
const count = (tokens: unknown): number => Number.isSafeInteger(tokens) && tokens as number > 0 ? tokens as number : 0
