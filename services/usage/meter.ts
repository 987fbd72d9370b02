import { setImmediate } from 'node:timers/promises'
import type { LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Log } from '../lib/log.ts'
import type { Config } from '../../schemas/config.ts'
import type { Budget } from '../../schemas/run-options.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { Role } from '../contracts/model-role.ts'
import type { TracedModelCall } from '../contracts/traced.ts'
import { addSpent, checkPrice, checkSpent, checkTasks, spentOf, tasksSpent } from './budgets.ts'
import type { RaisedBudget } from './raised-budgets.ts'
import { costAt, costReported, type Prices } from './prices.ts'
import type { UsageOwner, UsageRepository } from './usage-repository.ts'
import { addUsage, noUsage, tokensReported } from './usage-sums.ts'

/** What a provider reports at the end of a call. */
export interface Reported {
  usage?: LanguageModelV4Usage
  providerMetadata?: SharedV4ProviderMetadata
}

/** Counts the model calls of one run, or of the work on one thread, and refuses calls beyond the budget of the run or of the day. */
export interface Meter {
  /** Call it before each model call. Throws BudgetMet or BudgetUnpriced (`isBudgetError`) if the budget does not allow the call. */
  admit(model: string): Promise<void>
  /** Throws BudgetMet if the budget allows no further call, whatever its model. */
  checkSpent(): Promise<void>
  /** Adds an amount that a person has allowed on top of the budget of the run. */
  raise(raised: RaisedBudget): void
  /**
   * Call it after each model call that the provider answered, even if the answer is not used. `estimate` returns
   * the estimated tokens of a call that was cut off before its provider reported them. Never rejects.
   */
  count(call: EndedCall): Promise<void>
  /** Call it after each model call that failed and is not counted. The failure is only logged. */
  failed(call: FailedCall): void
}

interface EndedCall {
  model: string
  role: Role
  reported: Reported | undefined
  estimate: () => Tokens
  /** The duration of the call; milliseconds. */
  ms: number
  /** The error code, if the call failed in the middle of its answer. */
  code?: string
  /** The messages and options of the call, for traces. */
  prompt?: unknown
}

interface FailedCall extends Pick<EndedCall, 'model' | 'role' | 'ms'> {
  /** The error code. The error message is not passed, because it might repeat what was sent to the provider. */
  code: string
}

interface Tokens {
  inputTokens: number
  outputTokens: number
}

interface MeterOptions {
  owner?: UsageOwner
  runId?: string
  budget?: Budget
  /** True if no person began the run. The budget of all tasks for a day then limits it. */
  isUnattended?: boolean
  /** The usage of the run so far. The meter adds to this object in place, because all copies of the run record share it. */
  total?: Usage
}

const FAILED = 'model call failed'

export type UsageMeters = ReturnType<typeof createUsageMeters>

/**
 * Creates the service that opens a meter for each run and for the work on each thread. All meters add to the same stored usage, so the
 * budgets of a day cover all of them.
 */
export function createUsageMeters ({ repository, prices, config, isOfMachine = () => false, log, ended = () => {} }: {
  repository: Pick<UsageRepository, 'add' | 'today' | 'raised' | 'deletions' | 'idle'>
  prices: Pick<Prices, 'of'>
  config: () => Pick<Config, 'budget'>
  /** Whether a model runs on this computer. */
  isOfMachine?: (model: string) => boolean
  log: Log
  /** Called after each model call. */
  ended?: (call: TracedModelCall) => void
}) {
  const ofRuns = new Map<string, Meter>()
  const listeners: Array<(model: string) => void> = []
  const isPriced = async (model: string) => await prices.of(model) !== undefined

  /** Returns a message if the tasks have used up their budget for the day; undefined if they have not. */
  const tasksOverBudget = async () => tasksSpent((await repository.today()).rows, config().budget?.tasksPerDay, isOfMachine)

  function meter ({ owner, runId, budget = {}, isUnattended = false, total = noUsage() }: MeterOptions): Meter {
    const since = repository.deletions()
    let spent = spentOf(total)
    const raised: RaisedBudget[] = []
    const limits = () => ({ run: budget, day: config().budget?.day ?? {} })

    /** Resolves when all calls that have ended are counted. */
    let counting: Promise<unknown> = Promise.resolve()

    async function check (): Promise<void> {
      await counting
      await checkSpent(limits(), { ofRun: spent, raised, today: repository.today, raisedToday: repository.raised })
      if (isUnattended) checkTasks(await tasksOverBudget())
    }

    return {
      async admit (model) {
        await checkPrice(model, limits(), isPriced)
        await check()
      },
      checkSpent: check,
      raise: (more) => void raised.push(more),
      count (call) {
        if (call.reported !== undefined && call.role === 'capable') for (const listener of listeners) listener(call.model)
        const counted = count(call)
        counting = Promise.all([counting, counted])
        // A caller that cut off its call does not wait until the list of prices is loaded.
        return call.reported === undefined ? Promise.race([counted, setImmediate()]) : counted
      },
      failed ({ ms, ...call }) {
        log.warn({ runId, ...call, ms: Math.round(ms) }, FAILED)
        ended({ runId, ...call, ms })
      }
    }

    async function count ({ model, role, reported, estimate, ms, code, prompt }: EndedCall): Promise<void> {
      const tokens = tokensOfCall(reported, estimate)
      const usage = await withCost(model, tokens, reported).catch(() => tokens)
      const line = { runId, model, role, ms: Math.round(ms), ...usage, ...(reported === undefined && { cut: true }) }
      if (code === undefined) log.info(line, 'model call')
      else log.warn({ ...line, code }, FAILED)
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

    /** Registers a listener that is called with each model that has answered in the role `capable`. */
    onAnswer: (listener: (model: string) => void): void => void listeners.push(listener),

    /** Opens the meter of a run that begins to execute. `ofRun` finds this meter until `close`. */
    open (runId: string, options: MeterOptions): Meter {
      const opened = meter({ ...options, runId })
      ofRuns.set(runId, opened)
      return opened
    },
    close (runId: string) {
      ofRuns.delete(runId)
      // Stores calls that the last write of the run did not include.
      void repository.idle()
    },
    /** Returns the open meter of a run; for any other id, a meter that counts calls for no run. */
    ofRun: (runId: string): Meter => ofRuns.get(runId) ?? meter({})
  }
}

/** A reported token count above this number is an error of the provider. */
const TOO_MANY_TOKENS = 100_000_000

/** Returns the tokens of a call. Counts that the provider reports as 0 or as an impossible number are estimated. */
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
