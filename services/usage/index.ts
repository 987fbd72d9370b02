export { type BudgetError, isBudgetError, isOfDay } from './budgets.ts'
export type { Meter, Reported, UsageMeters } from './meter.ts'
export type { UsageRepository } from './usage-repository.ts'
export { addUsage, noUsage, tokensReported, totalOf } from './usage-sums.ts'
