import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, openLevel, type RawOp } from './database.ts'
import { moveDirectory, namesIn, privateDirectory } from './database-files.ts'
import { acquireLock } from './directory-lock.ts'
import type { Keys } from './encryption-keys.ts'
import { type KeySource, newKeys, openKeys } from './master-key.ts'
import { metaOp, type Meta, readMeta, type SchemaVersion } from './meta-record.ts'
import { migrate } from './migrate.ts'
import { migrations, newestOf } from './migrations.ts'
import { SESSION } from './record-names.ts'
import { emptyTables, type FileManifest, hasDropped, markOpening, untilSettled, verifyFiles } from './recovery/file-manifest.ts'
import { repair } from './recovery/repair.ts'
import { createTableList, type TableList } from './recovery/table-list.ts'
import { linkTables } from './recovery/unchecked-tables.ts'
import { createStore, type Opened } from './store.ts'
import { isCorrupt, rootOf, StoreDamaged, StoreInUse, StoreIoError, StoreKeyError, StoreStartError } from './store-errors.ts'
import type { Store, StoreOptions } from './store-types.ts'

// The opening of a store, from top to bottom. `openStore` takes the directory's lock. `openData` lists the steps to an open database in
// their order; each step follows below, or is a function of another file. Files that do not match their manifest are repaired and verified
// again. Before all this, plugins/core/config.ts waits for a service that is ending, and finishes an erasure or replacement.

/** How often files that a dying process might still hold are tried again, and after which pause in milliseconds. */
const LOCKED_RETRIES = 40
const LOCKED_RETRY_MS = 25

/**
 * Opens the encrypted store of a directory, or creates it. Throws a StoreStartError, whose `exitCode` the process should exit
 * with, when the directory is in use, or when its data is newer, damaged or encrypted with another key.
 */
export async function openStore (options: StoreOptions): Promise<Store> {
  privateDirectory(options.dir)
  const lock = await acquireLock(options.dir, options)
  try {
    return createStore(await openData(options, lock), lock, options)
  } catch (error) {
    lock.release()
    // The user gets LevelDB's disk error as a sentence instead of a stack trace.
    throw !(error instanceof StoreStartError) && rootOf(error).code?.startsWith('LEVEL_') ? new StoreIoError(options.dir, error) : error
  }
}

/**
 * Opens `{dir}/data`, or creates it when it does not exist. The caller holds the directory's lock. `tookOver` means that the
 * last holder of the lock died; the kernel might release its LevelDB lock a moment later. Tables that match the file manifest
 * are checked later in the background, unless `isThorough`.
 */
export async function openData (
  options: StoreOptions,
  { tookOver, isThorough = false }: { tookOver: boolean, isThorough?: boolean }
): Promise<Opened> {
  const { dir, clock, log, openDatabase = openLevel, migrations: steps = migrations } = options
  const place: DataPlace = {
    options,
    location: join(dir, 'data'),
    source: { dir, passphrase: options.passphrase || undefined },
    newest: newestOf(steps),
    // On Windows, another starting process might test whether the database is open, which blocks the opening for a moment.
    retries: tookOver || process.platform === 'win32' ? LOCKED_RETRIES : 0,
    reopen: () => openDatabase(place.location, { createIfMissing: false })
  }
  const { location, source, newest, retries, reopen } = place

  const created = await exists(location) ? undefined : await create(place)
  await untilSettled(location, { clock, retries, ms: LOCKED_RETRY_MS })
  const found = await verifyFiles(location, { isThorough })
  let { database, manifest, repaired } = await openVerified(place, found)
  try {
    const meta = await readMeta(database, location, newest)
    const { keys, ops } = created === undefined ? await openKeys(database, location, meta, source) : { keys: created, ops: [] }
    if (await lacksAcknowledgedData(database, location, manifest, keys)) {
      log?.warn({}, 'the database differs from its last recorded state; records may be missing')
      repaired = true
    }
    if (meta.schema.version < newest.version) database = await migrate({ database, dir, location, keys, meta, steps, clock, log, reopen })
    const current: Meta = { ...meta, schema: newest }
    const tables = await beginSession({ database, location, manifest, keys, ops: [metaOp(current), ...ops] })
    return { database, keys, meta: current, repaired, reopen, tables }
  } catch (error) {
    await database.close()
    if (manifest.trusted.size > 0 && mayBeDamage(error)) return await openData(options, { tookOver, isThorough: true })
    throw error
  }
}

/** True if the error might be caused by damage in a table that was trusted without being read. */
const mayBeDamage = (error: unknown): boolean =>
  error instanceof StoreDamaged || error instanceof StoreKeyError || rootOf(error).code === 'LEVEL_CORRUPTION'

/** The path of the database, and how it is opened. */
interface DataPlace {
  options: StoreOptions
  location: string
  source: KeySource
  newest: SchemaVersion
  /** How often a database that is still locked, or whose log ends within a record, is tried again. */
  retries: number
  reopen: () => Promise<Database>
}

/** Whether a database exists; an empty directory is none. Moves a complete repaired copy into place when the database is missing. */
async function exists (location: string): Promise<boolean> {
  if ((await namesIn(location)).length > 0) return true
  if ((await namesIn(`${location}.repair`)).length === 0) return false
  await moveDirectory(`${location}.repair`, location)
  return true
}

/**
 * Creates the database under another name and moves it into place when complete, because a `data` directory without its meta
 * record counts as damaged. Returns its keys.
 */
async function create ({ options: { openDatabase = openLevel }, location, source, newest }: DataPlace): Promise<Keys> {
  const { keys, origin } = await newKeys(source)
  const fresh = `${location}.new`
  await rm(fresh, { recursive: true, force: true })
  privateDirectory(fresh)
  const database = await openDatabase(fresh, { createIfMissing: true })
  await database.batch([metaOp({ ...origin, schema: newest })], { sync: true })
  await database.close()
  await rm(location, { recursive: true, force: true }) // empty, see `exists`
  await moveDirectory(fresh, location)
  return keys
}

/** An open database, and its files as they were verified before. */
interface Verified {
  database: Database
  manifest: FileManifest
  repaired: boolean
}

/** Opens the database. Repairs it first when its files differ from their manifest, or when LevelDB finds them broken. */
async function openVerified ({ options, location, source, newest, retries, reopen }: DataPlace, manifest: FileManifest): Promise<Verified> {
  const { clock, log, openDatabase = openLevel } = options
  const repairAndOpen = async (error: unknown): Promise<Verified> => {
    const { changed } = await verifyFiles(location, { isThorough: true })
    const suspects = [...new Set([...manifest.changed, ...changed])]
    await repair({ location, error, suspects, clock, log, openDatabase, source, newest })
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

/** Whether the opened database provably lacks acknowledged writes. */
async function lacksAcknowledgedData (database: Database, location: string, manifest: FileManifest, keys: Keys): Promise<boolean> {
  if (manifest.isCut || await hasDropped(location)) return true
  const session = await sessionOf(database)
  return manifest.session === undefined ? session > 0 : session < manifest.session || !manifest.isAuthentic(keys)
}

/**
 * Increments the session counter, in the database first. Also writes `ops` again, the records that describe the database: without them all
 * data would be unreadable, so they should be in more than one file. Returns the list of the database's tables.
 */
async function beginSession (
  { database, location, manifest, keys, ops }: { database: Database, location: string, manifest: FileManifest, keys: Keys, ops: RawOp[] }
): Promise<TableList> {
  const session = Math.max(await sessionOf(database), manifest.session ?? 0) + 1
  await database.batch([...ops, { type: 'put', key: SESSION, value: Buffer.from(String(session)) }], { sync: true })
  const tables = createTableList({ location, keys, session, manifest })
  await tables.begin()
  return tables
}

const sessionOf = async (database: Database): Promise<number> => Number(await database.get(SESSION) ?? 0) || 0
