import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/clock.ts'
import type { OpenDatabase } from './database.ts'
import type { Holder } from '../process/index.ts'
import type { StagedDatabase } from './replacement/staged-database.ts'
import type { SchemaVersion } from './meta-record.ts'

/** One write of a transaction. Values are JSON; keys are printable ASCII without spaces and do not start with `!`. */
export type Op = { type: 'put', key: string, value: unknown } | { type: 'del', key: string }

/** Read access of a migration: all records, including single records (`!record/<name>`). Damaged records are left out. */
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

export interface KeyRange {
  /** Maximum number of entries. */
  limit?: number
  /** Lists in descending key order. */
  reverse?: boolean
  /** Starts after this key in the direction of the listing: the last key of the previous page. */
  after?: string
}

export interface ListOptions extends KeyRange {
  signal?: AbortSignal
  /** Called with the key of each record that cannot be decrypted; the listing skips it. Without this callback the listing throws. */
  damaged?: (key: string) => void
}

/** One small named value, cached in memory once read. */
export interface StoredRecord<T> {
  /** Resolves to the value, or to `initial()` when none is stored. The value is frozen and shared: change it through `update`. */
  get(): Promise<T>
  /**
   * Reads, changes and writes the value. Updates of one record run one after the other, so none is lost. `change` gets a copy that it can
   * modify. Durable before it resolves; when `change` throws, the value stays as it is.
   */
  update(change: (value: T) => T | Promise<T>): Promise<T>
  /** Replaces the value without reading the old one, which might be damaged. Durable before it resolves. */
  replace(value: T): Promise<T>
}

/**
 * Functions that return the name of an item, for lists whose items are stored one by one. A name has only characters that keys can have.
 */
export type ItemIds<T> = { [K in keyof T]?: NonNullable<T[K]> extends ReadonlyArray<infer Item> ? (item: Item) => string : never }

/** The contents of a store, for a backup. */
export interface StoreContents {
  schema: SchemaVersion
  /** The key for `digest`: record keys are made with it. */
  digestKey: Buffer
  records: AsyncIterable<[key: string, value: unknown]>
}

export interface StoreStatus {
  state: 'ok' | 'latched' | 'closed'
  /** The reason why the store refuses all calls after a failed write (is latched), without paths or contents. */
  error?: string
  /** True if the database differed from its last recorded state when it was opened, even if it was repaired: records might be missing. */
  repaired?: true
  /** True if a read found a record that cannot be decrypted. */
  damaged?: true
}

/**
 * The encrypted store. While it is latched or closed, every call fails with ERR_STORE_UNAVAILABLE. When a running write fails
 * with that error, it is not known whether its data is on disk.
 */
export interface Store {
  /** Reads the value under `key`. Throws ERR_RECORD_DAMAGED when it cannot be decrypted. */
  get<T>(key: string): Promise<T | undefined>
  /** Lists a snapshot of the entries whose keys start with `prefix`, in key order. Throws ERR_RECORD_DAMAGED. */
  list<T>(prefix: string, options?: ListOptions): AsyncIterable<[key: string, value: T]>
  /** Lists keys only, without decrypting values. */
  keys(prefix: string, range?: KeyRange): AsyncIterable<string>
  /** Writes all of `ops` or none. Durable before it resolves. Throws ERR_STORE_BUSY when too many writes are queued. */
  transact(ops: Op[]): Promise<void>
  /**
   * Calls the listener with the operations of each transaction that is on disk, before `transact` resolves. An error of the listener is
   * logged.
   */
  onCommit(listener: (ops: readonly Op[]) => void): void
  /**
   * Returns the single record of a name. Every call with the same name returns the same object. With `ids`, the items of those lists are
   * stored one by one: a change gets the shared value itself, which it must not modify, and writes the items that are new objects. A
   * damaged item is left out.
   */
  record<T>(name: string, initial: () => T, ids?: ItemIds<T>): StoredRecord<T>
  /** Returns a keyed hash (hex), for ids chosen by callers: database keys are stored unencrypted. */
  digest(text: string): string
  status(): StoreStatus
  /** Reads a snapshot of all records, including single records. Calls `damaged` with the key of each unreadable record. */
  contents(signal: AbortSignal, damaged: (key: string) => void): StoreContents
  /**
   * Checks, at a bounded rate, the tables that the start trusted without reading. Damage latches the store; the next start
   * repairs it. Resolves when the check is complete or the store closes; unchecked tables are checked after the next start.
   */
  checkTables(): Promise<void>
  /** Creates a staged database that is to replace this one, for the contents of this or another store. */
  stage(contents: Omit<StoreContents, 'records'>): Promise<StagedDatabase>
  /** Waits for running writes, closes the database, runs `work`, and then releases the directory lock. */
  closeFor(work: () => Promise<void>): Promise<void>
  /** Waits for running writes, closes the database and releases the directory lock. Can be called again. */
  close(): Promise<void>
}

export interface StoreOptions {
  /** The service's data directory. Created if missing, accessible by its owner only. */
  dir: string
  /** The passphrase that the master key is derived from. Without one, or with an empty string, the key is in `{dir}/master.key`. */
  passphrase?: string
  clock: Clock
  log?: Log
  /** The parent process; this process exits when the parent does. */
  parent?: Holder
  /** Aborts when this process is asked to shut down; processes that wait for the directory can then see it. */
  ending?: AbortSignal
  /** Called before each write, which is made in a thread of Node's pool. */
  noteWork?: () => void
  /** Migrations from older schemas to the newest one. */
  migrations?: readonly Migration[]
  /** Opens the raw database. Defaults to LevelDB; tests replace it to observe writes or make them fail. */
  openDatabase?: OpenDatabase
}
