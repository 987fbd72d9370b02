import { setImmediate } from 'node:timers/promises'
import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Log } from '../lib/log.ts'
import type { Config } from '../../schemas/config.ts'
import type { Budget } from '../../schemas/run-options.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { Role } from '../contracts/model-role.ts'
import type { TracedModelCall } from '../contracts/traced.ts'
import { addSpent, checkPrice, checkSpent, checkTasks, spentOf, tasksSpent } from './budgets.ts'
import { costAt, costReported, type Prices } from './prices.ts'
import type { UsageOwner, UsageRepository } from './usage-repository.ts'
import { addUsage, noUsage, tokensReported } from './usage-sums.ts'

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

interface EndedCall {
  model: string
  role: Role
  reported: Reported | undefined
  estimate: () => Tokens
  /** The duration of the call, milliseconds. */
  ms: number
  /** The code of its failure, if it failed in the middle of its answer. */
  code?: string
  /** What the model was asked with. */
  prompt?: unknown
}

interface FailedCall extends Pick<EndedCall, 'model' | 'role' | 'ms'> {
  /** The code of the failure. Its text may repeat what was sent to the provider. */
  code: string
  /** Whether `count` is called for it, too. */
  isCounted?: boolean
}

export interface Tokens {
  inputTokens: number
  outputTokens: number
}

interface MeterOptions {
  owner?: UsageOwner
  runId?: string
  budget?: Budget
  /** Nobody began the run: it may use what the tasks may use on a day. */
  isUnattended?: boolean
  /** The usage of the run so far, to which the meter adds: the object itself changes, so that all copies of the run's head agree. */
  total?: Usage
}

export type UsageMeters = ReturnType<typeof createUsageMeters>

/** Creates the meters of model calls. All meters count into the same totals. */
export function createUsageMeters ({ repository, prices, config, isOfMachine = () => false, log, ended = () => {} }: {
  repository: Pick<UsageRepository, 'add' | 'today' | 'deletions' | 'idle'>
  prices: Pick<Prices, 'of'>
  config: () => Pick<Config, 'budget'>
  /** Whether a model runs on this machine. */
  isOfMachine?: (model: string) => boolean
  log: Log
  /** Called after each model call. */
  ended?: (call: TracedModelCall) => void
}) {
  const ofRuns = new Map<string, Meter>()
  const listeners: Array<(model: string) => void> = []
  const isPriced = async (model: string) => await prices.of(model) !== undefined

  /** Returns why the tasks have used up their budget of the day; undefined while they have not. */
  const tasksOverBudget = async () => tasksSpent(await repository.today(), config().budget?.tasksPerDay, isOfMachine)

  function meter ({ owner, runId, budget = {}, isUnattended = false, total = noUsage() }: MeterOptions): Meter {
    const since = repository.deletions()
    let spent = spentOf(total)
    const limits = () => ({ run: budget, day: config().budget?.day ?? {} })

    return {
      async admit (model) {
        await checkPrice(model, limits(), isPriced)
        await checkSpent(limits(), spent, repository.today)
        if (isUnattended) checkTasks(await tasksOverBudget())
      },
      count (call) {
        if (call.reported !== undefined && call.role === 'capable') for (const listener of listeners) listener(call.model)
        const counted = count(call)
        // Whoever has cut off a call does not wait for a list of prices.
        return call.reported === undefined ? Promise.race([counted, setImmediate()]) : counted
      },
      failed ({ ms, isCounted = false, ...call }) {
        log.warn({ runId, ...call, ms: Math.round(ms) }, 'model call failed')
        if (!isCounted) ended({ runId, ...call, ms })
      }
    }

    async function count ({ model, role, reported, estimate, ms, code, prompt }: EndedCall): Promise<void> {
      const tokens = tokensOfCall(reported, estimate)
      const usage = await withCost(model, tokens, reported).catch(() => tokens)
      log.info({ runId, model, role, ms: Math.round(ms), ...usage, ...(reported === undefined && { cut: true }) }, 'model call')
      ended({ runId, model, role, ms, usage, code, prompt })
      spent = addSpent(spent, spentOf(usage))
      const { costUsd, ...counts } = addUsage(total, usage)
      Object.assign(total, counts, { costUsd })
      if (costUsd === undefined) delete total.costUsd
      const isOfRun = runId !== undefined && ofRuns.has(runId)
      await repository.add({ model, role, usage, owner, since, isOfRun }).catch((error) =>
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
    tasksOverBudget,

    /** Calls the listener with each model that has answered in the role `capable`. */
    onAnswer: (listener: (model: string) => void): void => void listeners.push(listener),

    /** Opens the meter of a run that executes, which `ofRun` finds until it is closed. */
    open (runId: string, options: MeterOptions): Meter {
      const opened = meter({ ...options, runId })
      ofRuns.set(runId, opened)
      return opened
    },
    close (runId: string) {
      ofRuns.delete(runId)
      // What its last write did not take along.
      void repository.idle()
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
