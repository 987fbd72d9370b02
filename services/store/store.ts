import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { chunks, type Database, endOf, type RawOp, type RawRange } from './database.ts'
import type { Lock } from './directory-lock.ts'
import { cachedDigest, digestOf, type Keys, withDigestKey } from './encryption-keys.ts'
import { createLatchedDatabase, type LatchedDatabase } from './latched-database.ts'
import type { Meta } from './meta-record.ts'
import { toRaw } from './raw-op.ts'
import { assertKey, describesDatabase, FIRST_KEY, recordKey } from './record-names.ts'
import { createTableCheck } from './recovery/background-check.ts'
import type { TableList } from './recovery/table-list.ts'
import { seal, unseal } from './seal.ts'
import { createRecord, keepItems, keepWhole, type RecordAccess } from './single-record.ts'
import { isDamage } from './store-errors.ts'
import type { ItemIds, KeyRange, ListOptions, Op, Store, StoredRecord, StoreOptions } from './store-types.ts'

/** Decrypts a record. Throws RecordDamaged when the envelope cannot be read. */
type Open = <T>(key: string, envelope: Buffer) => T

const openOrReport = (open: Open, damaged: (key: string) => void) => <T>(key: string, envelope: Buffer): T | undefined => {
  try {
    return open<T>(key, envelope)
  } catch (error) {
    if (!isDamage(error)) throw error
    damaged(key)
  }
  return undefined
}

async function * walk<T> (
  latched: LatchedDatabase,
  open: (key: string, envelope: Buffer) => T | undefined,
  range: RawRange,
  signal?: AbortSignal
): AsyncGenerator<[string, T]> {
  const source = await latched.read(async (database) => chunks(database, range))
  try {
    for (;;) {
      signal?.throwIfAborted()
      const { done, value: chunk } = await latched.read(() => source.next())
      if (done) return
      for (const [key, envelope] of chunk) {
        signal?.throwIfAborted()
        const value = open(key, envelope)
        if (value !== undefined) yield [key, value]
      }
    }
  } finally {
    await source.return(undefined)
  }
}

function rangeOf (prefix: string, { limit, reverse = false, after }: KeyRange): RawRange {
  if (prefix !== '') assertKey(prefix)
  const first = prefix || FIRST_KEY
  const end = endOf(prefix)
  return {
    ...(!reverse && after !== undefined && after >= first ? { gt: after } : { gte: first }),
    lt: reverse && after !== undefined && after < end ? after : end,
    reverse,
    ...(limit !== undefined && { limit })
  }
}

/** From this many operations on, a transaction yields to the event loop while it encrypts. */
const MANY = 500

/** Time limit for hashing the files when the store closes; the next start verifies the rest. */
const LIST_MS = 1_000

/** An open database at the newest schema, with its keys. */
export interface Opened {
  database: Database
  keys: Keys
  meta: Meta
  /** True if the database differed from its last recorded state when it was opened, even if it was repaired. */
  repaired: boolean
  /** Reopens the same database after it was closed. */
  reopen(): Promise<Database>
  /** Its tables. Once the database is closed and on disk, call `seal` so that later changes to its files are detected. */
  tables: TableList
}

/** Creates the store of an open database. The store then owns the lock of the directory. */
export function createStore (opened: Opened, lock: Lock, { dir, clock, log, noteWork }: StoreOptions): Store {
  const { keys, meta, repaired, tables } = opened
  const closing = new AbortController()
  const latched: LatchedDatabase = createLatchedDatabase({
    ...opened,
    clock,
    log,
    noteWork,
    onWritten: (bytes) => check.wrote(bytes),
    onCorruption: (reason) => check.handleCorruption(reason)
  })
  const check = createTableCheck({ tables, clock, log, signal: closing.signal, disable: latched.disable })
  const records = new Map<string, StoredRecord<any>>()
  const listeners: Array<(ops: readonly Op[]) => void> = []
  let closed: Promise<void> | undefined
  let damaged = false
  /** Settles when the newest large transaction is queued for writing, so that later transactions stay behind it. */
  let sealing: Promise<void> | undefined

  function open<T> (key: string, envelope: Buffer): T {
    try {
      return unseal<T>(keys, key, envelope)
    } catch (error) {
      damaged = true
      throw error
    }
  }

  async function read<T> (key: string): Promise<T | undefined> {
    const envelope = await latched.read((database) => database.get(key))
    return envelope && open<T>(key, envelope)
  }

  function close (work?: () => Promise<void>): Promise<void> {
    closing.abort()
    closed ??= latched.close().then(async (isWhole) => {
      await check.ended()
      const end = clock.monotonic() + LIST_MS
      // Without the manifest, the next start takes the files as they are, as after a crash.
      if (isWhole) {
        await tables.seal(() => clock.monotonic() > end).catch((error) =>
          log?.warn({ err: error }, 'the file manifest of the store could not be written')
        )
      }
      await work?.()
    }).finally(lock.release)
    return closed
  }

  /** Checks all tables first: keys in a table with undetected damage would be missing silently. */
  async function * checked<T> (entries: () => AsyncIterable<T>): AsyncGenerator<T> {
    await check.all({ isUrgent: true })
    yield * entries()
  }

  async function write (ops: Op[]): Promise<void> {
    if (ops.length < MANY && sealing === undefined) return latched.write(ops.map((op) => toRaw(keys, op)))
    const queued = Promise.withResolvers<void>()
    const previous = sealing
    sealing = queued.promise
    try {
      const raw: RawOp[] = []
      for (const op of ops) {
        raw.push(toRaw(keys, op))
        await yieldToEventLoop()
      }
      await previous
      const written = latched.write(raw)
      if (sealing === queued.promise) sealing = undefined
      queued.resolve()
      await written
    } finally {
      if (sealing === queued.promise) sealing = undefined
      queued.resolve()
    }
  }

  return {
    async get (key) {
      assertKey(key)
      return await read(key)
    },
    async * list<T> (prefix: string, { damaged, signal, ...range }: ListOptions = {}) {
      yield * walk<T>(latched, damaged === undefined ? open : openOrReport(open, damaged), rangeOf(prefix, range), signal)
    },
    async * keys (prefix, range = {}) {
      for await (const [key] of walk(latched, (key) => key, rangeOf(prefix, range))) yield key
    },
    async transact (ops) {
      for (const { key } of ops) assertKey(key)
      if (ops.length === 0) return
      await write(ops)
      for (const listener of listeners) {
        // The write is on disk: its caller must not see it as failed, and the other listeners must be called.
        try {
          listener(ops)
        } catch (error) {
          log?.error({ err: error }, 'a listener of the store failed')
        }
      }
    },
    onCommit (listener) {
      listeners.push(listener)
    },
    record<T> (name: string, initial: () => T, ids?: ItemIds<T>) {
      const existing = records.get(name)
      if (existing !== undefined) return existing as StoredRecord<T>
      const access: RecordAccess = {
        key: recordKey(name),
        read,
        list: <I>(prefix: string, damaged: (key: string) => void) =>
          walk<I>(latched, openOrReport(open, damaged), { gte: prefix, lt: endOf(prefix) }),
        write: (texts) =>
          latched.write([...texts].map(([key, text]): RawOp =>
            text === undefined ? { type: 'del', key } : { type: 'put', key, value: seal(keys, key, text) }
          ))
      }
      const record = createRecord(ids === undefined ? keepWhole(access, initial) : keepItems(access, initial, ids), latched.epoch)
      records.set(name, record)
      return record
    },
    digest: cachedDigest((text) => digestOf(keys, text)),
    status: () => ({ ...latched.status(), ...(repaired && { repaired }), ...(damaged && { damaged }) }),
    contents (signal, damaged) {
      const opened = openOrReport(open, damaged)
      const readRecord = (key: string, envelope: Buffer) => describesDatabase(key) ? undefined : opened<unknown>(key, envelope)
      return {
        schema: meta.schema,
        digestKey: keys.digest.export(),
        records: checked(() => walk(latched, readRecord, {}, signal))
      }
    },
    checkTables: () => check.all(),
    async stage ({ schema, digestKey }) {
      const { createStagedDatabase } = await import('./replacement/staged-database.ts')
      return createStagedDatabase({ dir, keys: withDigestKey(keys, digestKey), meta: { ...meta, schema } })
    },
    closeFor: close,
    close: () => close()
  }
}
