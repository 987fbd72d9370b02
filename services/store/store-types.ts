import type { Clock } from '../lib/clock.ts'
import type { OpenDatabase } from './database.ts'
import type { Holder } from '../process/process-identity.ts'
import type { Migration } from './migrations.ts'
import type { StagedDatabase } from './replacement/staged-database.ts'

/** One change of a transaction. Values are JSON; keys are printable ASCII without spaces, not starting with `!`. */
export type Op = { type: 'put', key: string, value: unknown } | { type: 'del', key: string }

export interface ListOptions {
  /** At most so many entries. */
  limit?: number
  /** Last key first. */
  reverse?: boolean
  /** Start behind this key, in the direction of the listing: the last key of the page before. */
  after?: string
  signal?: AbortSignal
  /** Told the key of each record that cannot be deciphered, which is then left out; without it the listing ends there. */
  damaged?: (key: string) => void
}

/** One small value under a name of its own, kept in memory once read. */
export interface StoredRecord<T> {
  /** The value, or `initial()` when none was stored. Frozen and shared: change it through `update`. */
  get(): Promise<T>
  /**
   * Reads, changes and writes the value; updates of one record run one after the other, so none is lost.
   * `change` gets a copy that it may alter. Durable before it resolves; when `change` throws, nothing is altered.
   */
  update(change: (value: T) => T | Promise<T>): Promise<T>
  /** Puts a value in place of the old one, unread: the way out when that is damaged. Durable before it resolves. */
  replace(value: T): Promise<T>
}

/** What a store holds. */
export interface StoreContents {
  schema: number
  /** What `digest` works with: keys of records are made by it. */
  digestKey: Buffer
  records: AsyncIterable<[key: string, value: unknown]>
}

export interface StoreStatus {
  state: 'ok' | 'latched' | 'closed'
  /** Why the store is latched, without paths or contents. */
  error?: string
  /** The database was not as it had been left when it was opened, repaired or not: records may be missing. */
  repaired?: true
  /** A record was met that cannot be read. */
  damaged?: true
}

/**
 * Everything the service remembers. While latched or closed every call fails with ERR_STORE_UNAVAILABLE; of a write that
 * fails so while under way it is not known whether it reached the disk.
 */
export interface Store {
  /** The value under `key`. Throws ERR_RECORD_DAMAGED when it cannot be deciphered. */
  get<T>(key: string): Promise<T | undefined>
  /** The entries whose keys start with `prefix`, in key order, as they were when the listing began. Throws ERR_RECORD_DAMAGED. */
  list<T>(prefix: string, options?: ListOptions): AsyncIterable<[key: string, value: T]>
  /** Their keys alone: nothing is deciphered. */
  keys(prefix: string): AsyncIterable<string>
  /** Writes all of `ops` or none; on disk before it resolves. Throws ERR_STORE_BUSY when too much is waiting. */
  transact(ops: Op[]): Promise<void>
  /** The record of that name; every call with a name returns the same one. */
  record<T>(name: string, initial: () => T): StoredRecord<T>
  /** Keyed hash (hex) for ids that callers chose: database keys lie readable on disk. */
  digest(text: string): string
  status(): StoreStatus
  /** All records as they are now, the single ones among them; `damaged` is told of those that cannot be read. */
  contents(signal: AbortSignal, damaged: (key: string) => void): StoreContents
  /**
   * Reads, at a bounded rate, the tables that the start took on trust. Damage latches the store: the next start repairs it.
   * Resolves when that is done or the store closes; what was not read then is read after the next start.
   */
  checkTables(): Promise<void>
  /** Begins a database that is to take the place of this one, for contents of another or the same store. */
  stage(contents: Omit<StoreContents, 'records'>): Promise<StagedDatabase>
  /** Waits for the writes under way, lets go of the database, does `work` and then lets go of the directory. */
  closeFor(work: () => Promise<void>): Promise<void>
  /** Waits for the writes under way, then lets go of the directory. May be called again. */
  close(): Promise<void>
}

/** The part of pino that the store uses. */
export interface StoreLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface StoreOptions {
  /** The service's own directory; made if missing, readable by its owner only. */
  dir: string
  /** Derives the master key; without one it lies in `{dir}/master.key`. An empty string is none. */
  passphrase?: string
  clock: Clock
  log?: StoreLog
  /** The process that this one ends with. */
  parent?: Holder
  /** Aborted when this process is told to end: whoever waits for the directory is told so. */
  ending?: AbortSignal
  /** Steps from older schemas to the newest this program knows. */
  migrations?: readonly Migration[]
  /** Opens the raw database: LevelDB, unless a test wants to see or break its writes. */
  openDatabase?: OpenDatabase
}
