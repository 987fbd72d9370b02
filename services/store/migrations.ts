import type { SchemaVersion } from './meta-record.ts'
import type { Migration } from './store-types.ts'

/**
 * The base schema. Until the first release, a change of the stored data is made in place and increments this number, so that a store
 * of an earlier build is refused. From then on the number stays, and changes are migrations.
 */
const BASE = 21
/** The version of the base schema. */
const FIRST_VERSION = 1

/** Sorted by `to`. */
export const migrations: readonly Migration[] = []

/** Returns the newest schema that a program with these migrations can read. */
export const newestOf = (steps: readonly Migration[]): SchemaVersion => ({
  base: BASE,
  version: steps.reduce((newest, { to }) => Math.max(newest, to), FIRST_VERSION)
})
