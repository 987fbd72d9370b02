import type { Op } from './store-types.ts'

/** The schema that records are written in. */
export const SCHEMA = 1

/** What a migration sees: every record, the store's own (`!record/<name>`) among them, already deciphered. */
export interface OldData {
  get<T>(key: string): Promise<T | undefined>
  list<T>(prefix: string): AsyncIterable<[key: string, value: T]>
}

/**
 * One step of the schema. `migrate` yields its changes in batches; each is written and synced before it goes on, the
 * last one together with the new schema number. Killed midway it runs again from the start over what it has already
 * changed, so it must leave changed records alone.
 */
export interface Migration {
  to: number
  migrate(data: OldData): AsyncIterable<Op[]>
}

/** In the order of `to`. */
export const migrations: readonly Migration[] = []

/** The newest schema that a program with these migrations can read. */
export const newestOf = (steps: readonly Migration[]): number => steps.reduce((newest, { to }) => Math.max(newest, to), SCHEMA)
