import { oneLedger } from './migrate-to-one-ledger.ts'
import { indexRuns } from './migrate-index-runs.ts'
import { budgetToOptions } from './migrate-budget-to-options.ts'
import type { Migration } from './store-types.ts'

/** The schema version of the first records. */
export const SCHEMA = 1

/** Sorted by `to`. */
export const migrations: readonly Migration[] = [oneLedger, budgetToOptions, indexRuns]

/** Returns the newest schema version that a program with these migrations can read. */
export const newestOf = (steps: readonly Migration[]): number => steps.reduce((newest, { to }) => Math.max(newest, to), SCHEMA)
