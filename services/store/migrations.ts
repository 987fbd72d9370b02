import type { Op } from './store-types.ts'

/** The schema version of the records. */
export const SCHEMA = 1

/** Read access of a migration: all decrypted records, including single records (`!record/<name>`). */
export interface OldData {
  get<T>(key: string): Promise<T | undefined>
  list<T>(prefix: string): AsyncIterable<[key: string, value: T]>
}

/**
 * One step of the schema. `migrate` yields its changes in batches. Each batch is written and synced before the next one is
 * requested; the last one is written together with the new schema number. After a crash, the step runs again from the start,
 * so it must skip records that it has already changed.
 */
export interface Migration {
  to: number
  migrate(data: OldData): AsyncIterable<Op[]>
}

/** Sorted by `to`. */
export const migrations: readonly Migration[] = []

/** Returns the newest schema version that a program with these migrations can read. */
export const newestOf = (steps: readonly Migration[]): number => steps.reduce((newest, { to }) => Math.max(newest, to), SCHEMA)
