import { setImmediate } from 'node:timers/promises'
import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Log } from '../lib/log.ts'
import type { Config } from '../../schemas/config.ts'
import type { Budget } from '../../schemas/run-options.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { Role } from '../contracts/model-role.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import { costAt, costReported, type Prices } from './prices.ts'
import type { DayRow, UsageOwner, UsageRepository } from './usage-repository.ts'
import { addUsage, noUsage, roundUsd, tokensReported } from './usage-sums.ts'

/** What a provider reports at the end of a call. */
export interface Reported {
  usage?: LanguageModelV4Usage
  providerMetadata?: SharedV4ProviderMetadata
}

/** Counts the model calls of one run, or of the work on one thread, and refuses calls beyond its budget and that of the day. */
export interface Meter {
  /** To be called before each model call. Throws BudgetMet or BudgetUnpriced, see `isBudgetError`. */
  admit(model: string): Promise<void>
  /**
   * To be called after each model call that the provider answered, also for an answer that is not used. `estimate` returns the
   * tokens of a call that was cut off before its provider reported them. Never rejects.
   */
  count(call: EndedCall): Promise<void>
  /** To be called after each model call that failed. Only the log tells of it. */
  failed(call: FailedCall): void
}

export interface EndedCall {
  model: string
  role: Role
  reported: Reported | undefined
  estimate: () => Tokens
  /** The duration of the call, milliseconds. */
  ms: number
}

export interface FailedCall extends Pick<EndedCall, 'model' | 'role' | 'ms'> {
  /** The code of the failure. Its text may repeat what was sent to the provider. */
  code: string
}

export interface Tokens {
  inputTokens: number
  outputTokens: number
}

export interface MeterOptions {
  owner?: UsageOwner
  runId?: string
  budget?: Budget
  /** The usage of the run so far, to which the meter adds: the object itself changes, so that all copies of the run's head agree. */
  total?: Usage
}

export type UsageMeters = ReturnType<typeof createUsageMeters>

interface Parts {
  repository: Pick<UsageRepository, 'add' | 'today' | 'deletions'>
  prices: Pick<Prices, 'of'>
  config: () => Pick<Config, 'budget'>
  log: Log
}

/** Creates the meters of model calls. All meters count into the same totals. */
export function createUsageMeters ({ repository, prices, config, log }: Parts) {
  const ofRuns = new Map<string, Meter>()
  const isPriced = async (model: string) => await prices.of(model) !== undefined

  function meter ({ owner, runId, budget = {}, total = noUsage() }: MeterOptions): Meter {
    const since = repository.deletions()
    let spent = spentOf(total)
    const limits = () => ({ run: budget, day: config().budget?.day ?? {} })

    return {
      async admit (model) {
        await checkPrice(model, limits(), isPriced)
        await checkSpent(limits(), spent, repository.today)
      },
      count (call) {
        const counted = count(call)
        // Whoever has cut off a call does not wait for a list of prices.
        return call.reported === undefined ? Promise.race([counted, setImmediate()]) : counted
      },
      failed ({ ms, ...call }) {
        log.warn({ runId, ...call, ms: Math.round(ms) }, 'model call failed')
      }
    }

    async function count ({ model, role, reported, estimate, ms }: EndedCall): Promise<void> {
      const tokens = tokensOfCall(reported, estimate)
      const usage = await withCost(model, tokens, reported).catch(() => tokens)
      log.info({ runId, model, role, ms: Math.round(ms), ...usage, ...(reported === undefined && { cut: true }) }, 'model call')
      spent = addSpent(spent, spentOf(usage))
      const { costUsd, ...counts } = addUsage(total, usage)
      Object.assign(total, counts, { costUsd })
      if (costUsd === undefined) delete total.costUsd
      await repository.add({ model, role, usage, owner, since }).catch((error) =>
        log.error({ err: error, model }, 'the usage of a model call could not be counted')
      )
    }
  }

  async function withCost (model: string, tokens: Usage, reported: Reported | undefined): Promise<Usage> {
    const known = costReported(reported?.providerMetadata)
    if (known !== undefined) return { ...tokens, costUsd: known }
    const price = await prices.of(model)
    if (price === undefined) return tokens
    return { ...tokens, costUsd: costAt(price, tokens), ...(price.estimateOf !== undefined && { costEstimateOf: price.estimateOf }) }
  }

  return {
    meter,

    /** Opens the meter of a run that executes, which `ofRun` finds until it is closed. */
    open (runId: string, options: MeterOptions): Meter {
      const opened = meter({ ...options, runId })
      ofRuns.set(runId, opened)
      return opened
    },
    close (runId: string) {
      ofRuns.delete(runId)
    },
    /** Returns the meter of a run that executes; for any other id, one that counts for nobody. */
    ofRun: (runId: string): Meter => ofRuns.get(runId) ?? meter({})
  }
}

/** More tokens than a call can have. */
const TOO_MANY_TOKENS = 100_000_000

/** Returns the tokens of a call; where its provider reports none, or what cannot be true, those of the estimate. */
function tokensOfCall (reported: Reported | undefined, estimate: () => Tokens): Usage {
  const tokens = tokensReported(reported?.usage)
  const isOdd = (count: number) => count === 0 || count > TOO_MANY_TOKENS
  if (!isOdd(tokens.inputTokens) && !isOdd(tokens.outputTokens)) return tokens
  const { inputTokens, outputTokens } = estimate()
  return {
    ...tokens,
    ...(isOdd(tokens.inputTokens) && { inputTokens, cachedInputTokens: 0, cacheWriteTokens: 0 }),
    ...(isOdd(tokens.outputTokens) && { outputTokens })
  }
}

/** A budget that is used up. */
const BudgetMet = defineError('ERR_BUDGET', '%s')
const BudgetUnpriced = defineError(
  'ERR_BUDGET_UNPRICED',
  'There is a budget in US dollars, but no price of the model %s is known, so it was not called. Set its price in config.json, such as ' +
  '"prices": {"%s": {"input": 3, "output": 15}} in US dollars for a million tokens, or set a budget in tokens.'
)

export type BudgetError = ServiceError & { code: 'ERR_BUDGET' | 'ERR_BUDGET_UNPRICED' }

/** Whether a model call was refused because of a budget. */
export const isBudgetError = (error: unknown): error is BudgetError =>
  error instanceof ServiceError && (error.code === 'ERR_BUDGET' || error.code === 'ERR_BUDGET_UNPRICED')

/** The limits that a call is subject to: of its run, and of the day. */
interface Limits {
  run: Budget
  day: NonNullable<NonNullable<Config['budget']>['day']>
}

/** Throws BudgetUnpriced unless the price of the model is known, where a budget is in US dollars. */
async function checkPrice (model: string, { run, day }: Limits, isPriced: (model: string) => Promise<boolean>): Promise<void> {
  if (run.usd === undefined && day.usd === undefined) return
  if (!await isPriced(model)) throw new BudgetUnpriced(model, model)
}

/** Throws BudgetMet when the calls that have ended have reached a limit. */
async function checkSpent ({ run, day }: Limits, ofRun: Spent, rowsOfToday: () => Promise<readonly DayRow[]>): Promise<void> {
  if (run.tokens !== undefined && ofRun.tokens >= run.tokens) {
    throw new BudgetMet(`The run used ${ofRun.tokens} tokens; its budget is ${run.tokens}.`)
  }
  if (run.usd !== undefined && ofRun.usd >= run.usd) {
    throw new BudgetMet(`The run cost $${shown(ofRun.usd)}; its budget is $${shown(run.usd)}.`)
  }
  if (day.tokens === undefined && day.usd === undefined) return
  const today = (await rowsOfToday()).map(spentOf).reduce(addSpent, { tokens: 0, usd: 0 })
  const hint = 'It is set by budget.day in config.json and begins anew at midnight.'
  if (day.tokens !== undefined && today.tokens >= day.tokens) {
    throw new BudgetMet(`All model calls of today used ${today.tokens} tokens; the budget of a day is ${day.tokens}. ${hint}`)
  }
  if (day.usd !== undefined && today.usd >= day.usd) {
    throw new BudgetMet(`All model calls of today cost $${shown(today.usd)}; the budget of a day is $${shown(day.usd)}. ${hint}`)
  }
}

/** What counts against a budget. Calls without a price cost nothing here. */
interface Spent {
  tokens: number
  usd: number
}

const spentOf = ({ inputTokens, outputTokens, costUsd = 0 }: Pick<Usage, 'inputTokens' | 'outputTokens' | 'costUsd'>): Spent =>
  ({ tokens: inputTokens + outputTokens, usd: costUsd })
const addSpent = (a: Spent, b: Spent): Spent => ({ tokens: a.tokens + b.tokens, usd: roundUsd(a.usd + b.usd) })

/** Writes an amount without the digits that nobody reads. */
const shown = (usd: number) => Number(usd.toPrecision(4)).toString()
