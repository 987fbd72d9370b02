export { type BudgetError, isBudgetError, type Meter, type Reported, type UsageMeters } from './meter.ts'
export type { UsageRepository } from './usage-repository.ts'
export { noUsage, tokensReported, totalOf } from './usage-sums.ts'
