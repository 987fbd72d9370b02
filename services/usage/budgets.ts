import type { Config } from '../../schemas/config.ts'
import type { Budget } from '../../schemas/run-options.ts'
import type { Answers, Question, ReachedBudget } from '../../schemas/questions.ts'
import type { Usage } from '../../schemas/usage.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import type { RaisedBudget } from './raised-budgets.ts'
import type { DayRow } from './usage-repository.ts'
import { roundUsd } from './usage-sums.ts'

/** The error of a used-up budget. `reached` describes the budget for the question whether to allow more; absent if nobody can be asked. */
class BudgetMet extends ServiceError {
  readonly reached: ReachedBudget | undefined

  constructor (message: string, reached?: ReachedBudget) {
    super('ERR_BUDGET', message)
    this.reached = reached
  }
}
/** The error of a used-up budget for the day. */
class DayBudgetMet extends BudgetMet {}
const BudgetUnpriced = defineError(
  'ERR_BUDGET_UNPRICED',
  'There is a budget in US dollars, but no price of the model %s is known, so it was not called. Set its price in config.json, such as ' +
  '"prices": {"%s": {"input": 3, "output": 15}} in US dollars for a million tokens, or set a budget in tokens.'
)

export type BudgetError = ServiceError & { code: 'ERR_BUDGET' | 'ERR_BUDGET_UNPRICED' }

/** True if a model call was refused because of a budget. */
export const isBudgetError = (error: unknown): error is BudgetError =>
  error instanceof ServiceError && (error.code === 'ERR_BUDGET' || error.code === 'ERR_BUDGET_UNPRICED')

/** True if a budget for the day refused the call, not the budget of its run. */
export const isOfDay = (error: unknown): boolean => error instanceof DayBudgetMet

/** Returns the used-up budget that refused a call, if a person can be asked to allow more; undefined otherwise. */
export const budgetReached = (error: unknown): ReachedBudget | undefined => error instanceof BudgetMet ? error.reached : undefined

/** The budgets that limit a call: that of its run, and that of the day. */
interface Limits {
  run: Budget
  day: NonNullable<NonNullable<Config['budget']>['day']>
}

/** Throws BudgetUnpriced if a budget is in US dollars and the price of the model is unknown. */
export async function checkPrice (model: string, { run, day }: Limits, isPriced: (model: string) => Promise<boolean>): Promise<void> {
  if (run.usd === undefined && day.usd === undefined) return
  if (!await isPriced(model)) throw new BudgetUnpriced(model, model)
}

/** The amounts spent so far, and the amounts that persons have allowed on top of the budgets. */
interface SpentSoFar {
  ofRun: Spent
  /** What persons have allowed for the run. */
  raised: readonly RaisedBudget[]
  /** Returns the date of today and the model calls of today. */
  today: () => Promise<{ day: string, rows: readonly DayRow[] }>
  raisedToday: (day: string) => Promise<readonly RaisedBudget[]>
}

/** Throws BudgetMet if the calls that have ended have reached a budget of the run or of the day. */
export async function checkSpent ({ run, day: ofDay }: Limits, { ofRun, raised, today, raisedToday }: SpentSoFar): Promise<void> {
  const ofTheRun = findReached('run', run, ofRun, raised)
  if (ofTheRun !== undefined) throw budgetError(ofTheRun)
  if (ofDay.tokens === undefined && ofDay.usd === undefined) return
  const { day, rows } = await today()
  const spent = rows.map(spentOf).reduce(addSpent, { tokens: 0, usd: 0 })
  // Most calls are within the budget, so the store is asked for raised budgets only here.
  if (findReached('day', ofDay, spent, []) === undefined) return
  const reached = findReached('day', ofDay, spent, await raisedToday(day))
  if (reached !== undefined) throw budgetError({ ...reached, day })
}

function findReached (
  of: ReachedBudget['of'],
  budgets: { tokens?: number, usd?: number },
  spent: Spent,
  raised: readonly RaisedBudget[]
): ReachedBudget | undefined {
  for (const unit of ['tokens', 'usd'] as const) {
    const budget = budgets[unit]
    if (budget === undefined) continue
    const limit = Math.max(budget, ...raised.flatMap((each) => each.unit === unit && each.budget === budget ? [each.to] : []))
    if (spent[unit] >= limit) return { of, unit, spent: spent[unit], limit, more: budget }
  }
  return undefined
}

/** Returns the error for a used-up budget. */
export function budgetError (reached: ReachedBudget): ServiceError {
  const { of, unit, spent, limit } = reached
  if (of === 'run') {
    const sentence = unit === 'tokens'
      ? `The run used ${inTokens(spent)}; its budget is ${inWords(limit)}.`
      : `The run cost $${amountOf(spent)}; its budget is $${amountOf(limit)}.`
    return new BudgetMet(sentence, reached)
  }
  const sentence = unit === 'tokens'
    ? `All model calls of today used ${inTokens(spent)}; the budget of a day is ${inWords(limit)}.`
    : `All model calls of today cost $${amountOf(spent)}; the budget of a day is $${amountOf(limit)}.`
  return new DayBudgetMet(`${sentence} It is set by budget.day in config.json and begins anew at midnight.`, reached)
}

/** The values of the answers to the question about a budget. */
const GO_ON = 'more'
const STOP = 'stop'

/** Returns the question to a person whether the run can spend more than a budget allows. */
export function budgetQuestion ({ of, unit, spent, limit, more }: ReachedBudget): Question {
  const amount = (count: number) => unit === 'usd' ? money(count) : `${inWords(count)}`
  const [who, until] = of === 'run' ? ['This run has', ''] : ['Today all runs together have', ', until midnight']
  const used = unit === 'usd' ? `spent ${amount(spent)} of ${amount(limit)}` : `used ${amount(spent)} of ${inTokens(limit)}`
  const added = unit === 'usd' ? `${amount(more)} more` : `${inTokens(more)} more`
  return {
    id: 'budget',
    text: `${who} ${used}. Go on with ${added}${until}?`,
    options: [{ value: GO_ON, label: `Go on with ${added}` }, { value: STOP, label: 'Stop here' }],
    required: true
  }
}

/** Returns the answers that say yes to the question about a budget. */
export const allowMore = (): Answers => ({ budget: GO_ON })
/** Whether the answers to the question about a budget allow more. */
export const isAllowed = (answers: Answers | undefined): boolean => answers?.budget === GO_ON

/** Formats US dollars with two decimals; an amount with further significant digits keeps those. */
const money = (usd: number) => Number(amountOf(usd)) === Number(usd.toFixed(2)) ? `$${usd.toFixed(2)}` : `$${amountOf(usd)}`

/** The amounts that count against a budget. Calls without a price cost nothing here. */
interface Spent {
  tokens: number
  usd: number
}

export const spentOf = ({ inputTokens, outputTokens, costUsd = 0 }: Pick<Usage, 'inputTokens' | 'outputTokens' | 'costUsd'>): Spent =>
  ({ tokens: inputTokens + outputTokens, usd: costUsd })
export const addSpent = (a: Spent, b: Spent): Spent => ({ tokens: a.tokens + b.tokens, usd: roundUsd(a.usd + b.usd) })

/** Formats a number of tokens with separators: 1,234,567. */
const inWords = (tokens: number) => tokens.toLocaleString('en')
const inTokens = (tokens: number) => `${inWords(tokens)} token${tokens === 1 ? '' : 's'}`
/** Formats US dollars with at most four significant digits. */
const amountOf = (usd: number) => Number(usd.toPrecision(4)).toString()

/** The default budget of all tasks for a day: US dollars for models with known prices, tokens for other models. */
const TASKS_PER_DAY = { usd: 5, tokens: 5_000_000 }

/**
 * Returns a message if the tasks have used up their budget for the day, counted over the calls of all task runs;
 * undefined if they have not. The default budget does not limit models that run on this computer (`isOfMachine`).
 */
export function tasksSpent (
  rows: readonly DayRow[],
  configured: NonNullable<Config['budget']>['tasksPerDay'],
  isOfMachine: (model: string) => boolean
): string | undefined {
  const sum = (all: readonly DayRow[]) => all.map(spentOf).reduce(addSpent, { tokens: 0, usd: 0 })
  const ofTasks = rows.filter((row) => row.of === 'task')
  const limits = configured ?? TASKS_PER_DAY
  const { usd } = sum(ofTasks)
  const unpriced = () => ofTasks.filter(({ model, unpricedCalls }) => unpricedCalls > 0 && !isOfMachine(model))
  const limited = configured === undefined ? unpriced() : ofTasks
  const { tokens } = sum(limited)
  const hint = 'It begins anew at midnight; budget.tasksPerDay in config.json sets it.'
  if (limits.usd !== undefined && usd >= limits.usd) {
    return `The tasks of today cost $${amountOf(usd)}; their budget of a day is $${amountOf(limits.usd)}. ${hint}`
  }
  if (limits.tokens !== undefined && tokens >= limits.tokens) {
    return `The tasks of today used ${inTokens(tokens)}; their budget of a day is ${inWords(limits.tokens)}. ${hint}`
  }
  return undefined
}

/** Throws DayBudgetMet if there is a message from `tasksSpent`. */
export function checkTasks (spent: string | undefined): void {
  if (spent !== undefined) throw new DayBudgetMet(spent)
}
