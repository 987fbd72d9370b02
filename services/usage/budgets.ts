import type { Config } from '../../schemas/config.ts'
import type { Budget } from '../../schemas/run-options.ts'
import type { Usage } from '../../schemas/usage.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import type { DayRow } from './usage-repository.ts'
import { roundUsd } from './usage-sums.ts'

/** A budget that is used up. */
const BudgetMet = defineError('ERR_BUDGET', '%s')
/** The budget of a day that is used up. */
class DayBudgetMet extends BudgetMet {}
const BudgetUnpriced = defineError(
  'ERR_BUDGET_UNPRICED',
  'There is a budget in US dollars, but no price of the model %s is known, so it was not called. Set its price in config.json, such as ' +
  '"prices": {"%s": {"input": 3, "output": 15}} in US dollars for a million tokens, or set a budget in tokens.'
)

export type BudgetError = ServiceError & { code: 'ERR_BUDGET' | 'ERR_BUDGET_UNPRICED' }

/** Whether a model call was refused because of a budget. */
export const isBudgetError = (error: unknown): error is BudgetError =>
  error instanceof ServiceError && (error.code === 'ERR_BUDGET' || error.code === 'ERR_BUDGET_UNPRICED')

/** Whether the budget of a day refused the call, and not that of its run. */
export const isOfDay = (error: unknown): boolean => error instanceof DayBudgetMet

/** The budgets that a call is subject to: of its run, and of the day. */
interface Limits {
  run: Budget
  day: NonNullable<NonNullable<Config['budget']>['day']>
}

/** Throws BudgetUnpriced unless the price of the model is known, where a budget is in US dollars. */
export async function checkPrice (model: string, { run, day }: Limits, isPriced: (model: string) => Promise<boolean>): Promise<void> {
  if (run.usd === undefined && day.usd === undefined) return
  if (!await isPriced(model)) throw new BudgetUnpriced(model, model)
}

/** Throws BudgetMet when the calls that have ended have reached a limit. */
export async function checkSpent ({ run, day }: Limits, ofRun: Spent, rowsOfToday: () => Promise<readonly DayRow[]>): Promise<void> {
  if (run.tokens !== undefined && ofRun.tokens >= run.tokens) {
    throw new BudgetMet(`The run used ${inWords(ofRun.tokens)} tokens; its budget is ${inWords(run.tokens)}.`)
  }
  if (run.usd !== undefined && ofRun.usd >= run.usd) {
    throw new BudgetMet(`The run cost $${shown(ofRun.usd)}; its budget is $${shown(run.usd)}.`)
  }
  if (day.tokens === undefined && day.usd === undefined) return
  const today = (await rowsOfToday()).map(spentOf).reduce(addSpent, { tokens: 0, usd: 0 })
  const hint = 'It is set by budget.day in config.json and begins anew at midnight.'
  if (day.tokens !== undefined && today.tokens >= day.tokens) {
    const used = `All model calls of today used ${inWords(today.tokens)} tokens`
    throw new DayBudgetMet(`${used}; the budget of a day is ${inWords(day.tokens)}. ${hint}`)
  }
  if (day.usd !== undefined && today.usd >= day.usd) {
    throw new DayBudgetMet(`All model calls of today cost $${shown(today.usd)}; the budget of a day is $${shown(day.usd)}. ${hint}`)
  }
}

/** What counts against a budget. Calls without a price cost nothing here. */
interface Spent {
  tokens: number
  usd: number
}

export const spentOf = ({ inputTokens, outputTokens, costUsd = 0 }: Pick<Usage, 'inputTokens' | 'outputTokens' | 'costUsd'>): Spent =>
  ({ tokens: inputTokens + outputTokens, usd: costUsd })
export const addSpent = (a: Spent, b: Spent): Spent => ({ tokens: a.tokens + b.tokens, usd: roundUsd(a.usd + b.usd) })

/** Writes a number of tokens as people read it: 1,234,567. */
const inWords = (tokens: number) => tokens.toLocaleString('en')
/** Writes an amount without the digits that nobody reads. */
const shown = (usd: number) => Number(usd.toPrecision(4)).toString()

/** What tasks may use on a day where the configuration says nothing: dollars where models have prices, else tokens. */
const TASKS_PER_DAY = { usd: 5, tokens: 5_000_000 }

/**
 * Returns why the tasks have used up their budget of the day, by the calls of all of their runs; undefined while they have not. The
 * default limits no models of this machine: `isOfMachine`.
 */
export function tasksSpent (
  rows: readonly DayRow[],
  given: NonNullable<Config['budget']>['tasksPerDay'],
  isOfMachine: (model: string) => boolean
): string | undefined {
  const sum = (all: readonly DayRow[]) => all.map(spentOf).reduce(addSpent, { tokens: 0, usd: 0 })
  const ofTasks = rows.filter((row) => row.of === 'task')
  const limits = given ?? TASKS_PER_DAY
  const { usd } = sum(ofTasks)
  const limited = given === undefined ? ofTasks.filter(({ model, unpricedCalls }) => unpricedCalls > 0 && !isOfMachine(model)) : ofTasks
  const { tokens } = sum(limited)
  const hint = 'It begins anew at midnight; budget.tasksPerDay in config.json sets it.'
  if (limits.usd !== undefined && usd >= limits.usd) {
    return `The tasks of today cost $${shown(usd)}; their budget of a day is $${shown(limits.usd)}. ${hint}`
  }
  if (limits.tokens !== undefined && tokens >= limits.tokens) {
    return `The tasks of today used ${inWords(tokens)} tokens; their budget of a day is ${inWords(limits.tokens)}. ${hint}`
  }
  return undefined
}

/** Throws BudgetMet when the tasks have used up their budget of the day. */
export function checkTasks (spent: string | undefined): void {
  if (spent !== undefined) throw new DayBudgetMet(spent)
}
