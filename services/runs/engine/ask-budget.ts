import type { BudgetQuestion } from '../../contracts/approval-record.ts'
import { budgetError, budgetQuestion, budgetReached, type Meter, raisedBy } from '../../usage/index.ts'
import type { RunItems } from './asked-items.ts'

/** Lets the run spend what its user has allowed it in earlier segments. The yes of a day is kept with the usage of that day. */
export function raiseBudgets (meter: Pick<Meter, 'raise'>, items: RunItems): void {
  for (const { budget, isAllowed } of items.budgets()) if (isAllowed && budget.of === 'run') meter.raise(raisedBy(budget))
}

/**
 * Does work that makes model calls. Returns its result, or the question that the run must ask first, where a budget is used up. Rejects
 * with BudgetMet where nobody can be asked (`mayAsk`), and where the user has said no before.
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
