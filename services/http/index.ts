export { Draining } from './gate.ts'
export type { Idempotency } from './idempotency.ts'
export { describeInvalid, type FailedRule } from './invalid.ts'
