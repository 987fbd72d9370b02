import type { Clock } from '../lib/clock.ts'
import { type Database, type RawOp, openLevel, type OpenDatabase } from './database.ts'
import { hasDropped, markOpening } from './recovery/file-manifest.ts'
import { type Keys, withDigestKey } from './encryption-keys.ts'
import { metaOp, type Meta, readMeta } from './meta-record.ts'
import { SESSION, DIGEST, MIGRATING } from './record-names.ts'
import { isCut, verifyFiles, type FileManifest, emptyTables } from './recovery/known-files.ts'
import { createTableList, type TableList } from './recovery/table-list.ts'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreOptions } from './store-types.ts'
import { isCorrupt, rootOf, StoreDamaged, StoreInUse, StoreKeyError } from './store-errors.ts'
import { copyDatabase, keepNewest, moveDirectory, namesIn, privateDirectory, stamp } from './database-files.ts'
import { keysFor, newKeys, type KeySource } from './master-key.ts'
import { migrate } from './migrate.ts'
import { migrations, newestOf } from './migrations.ts'
import { repair } from './recovery/repair.ts'
import { unseal } from './seal.ts'
import { linkTables } from './recovery/unchecked-tables.ts'

/** An open database and the manifest that was verified before. */
interface Session {
  database: Database
  location: string
  manifest: FileManifest
  keys: Keys
}

/** Verifies the files of a database. Waits first while its log ends within a record: a dying process may still be writing to it. */
async function settledManifest (location: string, { clock, retries, wait, isThorough }: {
  clock: Clock,
  retries: number,
  wait: number,
  isThorough?: boolean
}): Promise<FileManifest> {
  for (let retriesLeft = retries; retriesLeft > 0 && await isCut(location); retriesLeft--) await clock.sleep(wait)
  return await verifyFiles(location, { isThorough })
}

/** Whether the opened database provably lacks acknowledged writes. */
async function lacksAcknowledgedData ({ database, location, manifest, keys }: Session): Promise<boolean> {
  if (manifest.isCut || await hasDropped(location)) return true
  const session = await sessionOf(database)
  return manifest.session === undefined ? session > 0 : session < manifest.session || !manifest.isAuthentic(keys)
}

/**
 * Increments the session counter, in the database first, and writes the records that describe the database (and `ops`) again.
 * Without those records all data would be unreadable, so they should be in more than one file. Returns the list of the
 * database's tables.
 */
async function beginSession (
  { database, location, manifest, keys, meta, ops = [] }: Session & { meta: Meta, ops?: RawOp[] }
): Promise<TableList> {
  const session = Math.max(await sessionOf(database), manifest.session ?? 0) + 1
  await database.batch([metaOp(meta), ...ops, { type: 'put', key: SESSION, value: Buffer.from(String(session)) }], { sync: true })
  const tables = createTableList({ location, keys, session, manifest })
  await tables.begin()
  return tables
}

const sessionOf = async (database: Database): Promise<number> => Number(await database.get(SESSION) ?? 0) || 0

/** An open database at the newest schema, with its keys. */
export interface Opened {
  database: Database
  keys: Keys
  meta: Meta
  repaired: boolean
  /** Reopens the same database after it was closed. */
  reopen(): Promise<Database>
  /** Its tables. Once the database is closed and on disk, call `seal` so that later changes to its files are detected. */
  tables: TableList
}

const LOCKED_RETRIES = 40
const LOCKED_RETRY_MS = 25
/** How many copies from before migrations are kept. */
const COPIES = 2

/**
 * Opens `{dir}/data`, or creates it when it does not exist. The caller holds the directory's lock. `tookOver` means that the
 * last holder of the lock died; the kernel may release its LevelDB lock a moment later. Tables that match the file manifest
 * are checked later in the background, unless `isThorough`.
 */
export async function openData (
  options: StoreOptions,
  { tookOver, isThorough }: { tookOver: boolean, isThorough?: boolean }
): Promise<Opened> {
  const { dir, clock, openDatabase = openLevel, migrations: steps = migrations } = options
  const newest = newestOf(steps)
  const source = { dir, passphrase: options.passphrase || undefined }
  const location = join(dir, 'data')
  const reopen = () => openDatabase(location, { createIfMissing: false })
  if (!await exists(location, `${location}.repair`)) return await makeData(options, source, location, reopen)

  const retries = tookOver ? LOCKED_RETRIES : 0
  const found = await settledManifest(location, { clock, retries, wait: LOCKED_RETRY_MS, isThorough })
  let { database, repaired, manifest } = await openExisting({ options, source, location, reopen, manifest: found, retries })
  try {
    const meta = await readMeta(database, location, newest)
    const { keys, ops } = await withStoredDigestKey(database, location, await keysFor(meta, source))
    if (await lacksAcknowledgedData({ database, location, manifest, keys })) {
      options.log?.warn({}, 'the database differs from its last recorded state; records may be missing')
      repaired = true
    }
    if (meta.schema.version < newest.version) {
      database = await keepCopy(database, location, `${location}.v${meta.schema.version}-${stamp(clock.now())}`, reopen)
      options.log?.info({ from: meta.schema, to: newest }, 'migrating the store')
      await migrate(database, keys, meta, steps)
      await keepNewest(dir, 'data.v', COPIES)
    }
    const current = { ...meta, schema: newest }
    const tables = await beginSession({ database, location, manifest, keys, meta: current, ops })
    return { database, keys, meta: current, repaired, reopen, tables }
  } catch (error) {
    await database.close()
    if (manifest.trusted.size > 0 && mayBeDamage(error)) return await openData(options, { tookOver, isThorough: true })
    throw error
  }
}

/** Whether a damaged table that was trusted so far may have caused an error. */
const mayBeDamage = (error: unknown): boolean =>
  error instanceof StoreDamaged || error instanceof StoreKeyError || rootOf(error).code === 'LEVEL_CORRUPTION'

async function makeData (
  { openDatabase = openLevel, migrations: steps = migrations }: StoreOptions,
  source: KeySource,
  location: string,
  reopen: Opened['reopen']
): Promise<Opened> {
  const { keys, origin } = await newKeys(source)
  const meta = { ...origin, schema: newestOf(steps) }
  await create(location, meta, openDatabase)
  const manifest = await verifyFiles(location)
  const database = await reopen()
  try {
    return { database, keys, meta, repaired: false, reopen, tables: await beginSession({ database, location, manifest, keys, meta }) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/**
 * Replaces the digest key with the one stored in the database, which is older than the current master key. `ops` write that
 * record again.
 */
async function withStoredDigestKey (database: Database, location: string, keys: Keys): Promise<{ keys: Keys, ops: RawOp[] }> {
  const value = await database.get(DIGEST)
  if (value === undefined) return { keys, ops: [] }
  try {
    return {
      keys: withDigestKey(keys, Buffer.from(unseal<{ key: string }>(keys, DIGEST, value).key, 'base64')),
      ops: [{ type: 'put', key: DIGEST, value }]
    }
  } catch (cause) {
    throw new StoreDamaged(location, 'the key for its record names cannot be read', { cause })
  }
}

/** Whether a database exists; an empty directory is none. Moves a complete repaired copy into place when the database is missing. */
async function exists (location: string, repairedCopy: string): Promise<boolean> {
  if ((await namesIn(location)).length > 0) return true
  if ((await namesIn(repairedCopy)).length === 0) return false
  await moveDirectory(repairedCopy, location)
  return true
}

/**
 * Creates the database under another name and moves it into place when complete, because a `data` directory without its meta
 * record counts as damaged.
 */
async function create (location: string, meta: Meta, openDatabase: OpenDatabase): Promise<void> {
  const fresh = `${location}.new`
  await rm(fresh, { recursive: true, force: true })
  privateDirectory(fresh)
  const database = await openDatabase(fresh, { createIfMissing: true })
  await database.batch([metaOp(meta)], { sync: true })
  await database.close()
  await rm(location, { recursive: true, force: true }) // empty, see `exists`
  await moveDirectory(fresh, location)
}

interface Existing {
  options: StoreOptions
  source: KeySource
  location: string
  reopen: () => Promise<Database>
  manifest: FileManifest
  retries: number
}

async function openExisting ({ options, source, location, reopen, manifest, retries }: Existing) {
  const { clock, log, openDatabase = openLevel, migrations: steps = migrations } = options
  const repairAndOpen = async (error: unknown) => {
    const { changed } = await verifyFiles(location, { isThorough: true })
    const suspects = [...new Set([...manifest.changed, ...changed])]
    await repair({ location, error, suspects, clock, log, openDatabase, source, newest: newestOf(steps) })
    return { database: await reopen(), repaired: true, manifest: { ...manifest, ...emptyTables() } }
  }
  if (manifest.changed.length > 0) return await repairAndOpen(new Error('its files differ from the file manifest'))
  await markOpening(location, manifest)
  // Must happen before LevelDB opens, because its compaction can remove tables.
  const unlinked = linkTables(location, manifest.trusted.keys(), new Set(manifest.merged.keys()))
  if (unlinked !== undefined) {
    log?.info({ err: unlinked }, 'tables cannot be linked; tables that a compaction removes before their check stay unchecked')
  }
  for (let retriesLeft = retries; ; retriesLeft--) {
    try {
      return { database: await reopen(), repaired: false, manifest }
    } catch (error) {
      if (isCorrupt(error)) return await repairAndOpen(error)
      if (rootOf(error).code !== 'LEVEL_LOCKED') throw error
      if (retriesLeft === 0) throw new StoreInUse(options.dir)
      await clock.sleep(LOCKED_RETRY_MS)
    }
  }
}

/** Keeps a copy of the database from before the migration. Skips this when an earlier, interrupted migration already made the copy. */
async function keepCopy (database: Database, location: string, copy: string, reopen: () => Promise<Database>): Promise<Database> {
  if (await database.get(MIGRATING) !== undefined) return database
  await database.close()
  await copyDatabase(location, copy)
  const again = await reopen()
  try {
    await again.batch([{ type: 'put', key: MIGRATING, value: Buffer.from(copy) }], { sync: true })
    return again
  } catch (error) {
    await again.close()
    throw error
  }
}
