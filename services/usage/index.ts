export {
  allowMore,
  type BudgetError,
  budgetError,
  budgetQuestion,
  budgetReached,
  isAllowed,
  isBudgetError,
  isOfDay
} from './budgets.ts'
export type { Meter, Reported, UsageMeters } from './meter.ts'
export { raiseDay, raisedBy } from './raised-budgets.ts'
export type { UsageRepository } from './usage-repository.ts'
export { addUsage, noUsage, tokensReported, totalOf } from './usage-sums.ts'
