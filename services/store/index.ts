export * from './keys.ts'
export { emptyIfDamaged, isDamage, RecordDamaged, unlessDamaged } from './store-errors.ts'
export type { ItemIds, Op, Store, StoredRecord } from './store-types.ts'
