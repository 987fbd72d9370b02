import type { BudgetQuestion } from '../../contracts/approval-record.ts'
import { budgetError, budgetQuestion, budgetReached, type Meter, raisedBy } from '../../usage/index.ts'
import type { RunItems } from './asked-items.ts'

/**
 * Adds to the run's budget (of tokens or US dollars) what the user has allowed each time the run waited for an answer about its budget. The
 * daily budget is left out: what the user allows there is stored with the usage of the day.
 */
export function raiseBudgets (meter: Pick<Meter, 'raise'>, items: RunItems): void {
  for (const { budget, isAllowed } of items.budgets()) if (isAllowed && budget.of === 'run') meter.raise(raisedBy(budget))
}

/**
 * Does work that makes model calls. Returns the result or, if a budget is used up, the question that the run must ask first. Rejects with
 * BudgetMet if `mayAsk` says that nobody can be asked, and if the user has refused before.
 */
export async function workWithinBudget<T> (
  work: () => Promise<T>,
  { items, mayAsk }: { items: RunItems, mayAsk: () => boolean }
): Promise<{ result: T } | { asks: BudgetQuestion }> {
  const refused = items.budgets().find(({ isAllowed }) => !isAllowed)
  if (refused !== undefined) throw budgetError(refused.budget)
  try {
    return { result: await work() }
  } catch (error) {
    const budget = mayAsk() ? budgetReached(error) : undefined
    if (budget === undefined) throw error
    return { asks: { kind: 'question', questions: [budgetQuestion(budget)], budget } }
  }
}
