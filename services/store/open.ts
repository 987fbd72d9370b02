import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreOptions } from './store-types.ts'
import { openLevel, type Database, type OpenDatabase, type RawOp } from './database.ts'
import { isCorrupt, rootOf, StoreDamaged, StoreInUse, StoreKeyError, StoreNewer } from './store-errors.ts'
import { copyDatabase, keepNewest, moveDirectory, namesIn, privateDirectory, stamp } from './database-files.ts'
import { markOpening } from './recovery/file-manifest.ts'
import { withDigestKey, type Keys } from './encryption-keys.ts'
import { keysFor, newKeys, type KeySource } from './master-key.ts'
import { metaOp, readMeta, type Meta } from './meta-record.ts'
import { migrate } from './migrate.ts'
import { migrations, newestOf } from './migrations.ts'
import { DIGEST, MIGRATING } from './record-names.ts'
import { repair } from './recovery/repair.ts'
import { unseal } from './seal.ts'
import { beginSession, lacksAcknowledgedData, settledManifest } from './recovery/open-session.ts'
import { noStock, verifyFiles, type FileManifest } from './recovery/known-files.ts'
import type { TableList } from './recovery/table-list.ts'
import { linkTables } from './recovery/unchecked-tables.ts'

/** A database with its keys, of the newest schema. */
export interface Opened {
  database: Database
  keys: Keys
  meta: Meta
  repaired: boolean
  /** Opens the same database again after it was closed. */
  reopen(): Promise<Database>
  /** Its tables; to be sealed when it was closed, all of it on disk: what happens to its files from then on is noticed. */
  tables: TableList
}

const LOCKED_RETRIES = 40
const LOCKED_RETRY_MS = 25
/** Copies from before a migration that are kept. */
const COPIES = 2

/**
 * Opens `{dir}/data`, or makes it when there is none. The caller holds the directory's lock; `tookOver` says that its
 * last holder died, whose file lock the kernel may release a moment later. Tables that look like those that were listed
 * are left to be checked later, unless it `isThorough`.
 */
export async function openData (
  options: StoreOptions,
  { tookOver, isThorough }: { tookOver: boolean, isThorough?: boolean }
): Promise<Opened> {
  const { dir, clock, openDatabase = openLevel, migrations: steps = migrations } = options
  const source = { dir, passphrase: options.passphrase || undefined }
  const location = join(dir, 'data')
  const reopen = () => openDatabase(location, { createIfMissing: false })
  if (!await exists(location, `${location}.repair`)) return await makeData(options, source, location, reopen)

  const retries = tookOver ? LOCKED_RETRIES : 0
  const found = await settledManifest(location, { clock, retries, wait: LOCKED_RETRY_MS, isThorough })
  let { database, repaired, stock } = await openExisting({ options, source, location, reopen, stock: found, retries })
  try {
    const meta = await readMeta(database, location)
    if (meta.schema > newestOf(steps)) throw new StoreNewer(meta.schema, newestOf(steps))
    const { keys, ops } = await carried(database, location, await keysFor(meta, source))
    if (await lacksAcknowledgedData({ database, location, stock, keys })) {
      options.log?.warn({}, 'the database is not as it was left: records may be missing')
      repaired = true
    }
    if (meta.schema < newestOf(steps)) {
      database = await keepCopy(database, location, `${location}.v${meta.schema}-${stamp(clock.now())}`, reopen)
      options.log?.info({ from: meta.schema, to: newestOf(steps) }, 'migrating the store')
      await migrate(database, keys, meta, steps)
      await keepNewest(dir, 'data.v', COPIES)
    }
    const current = { ...meta, schema: newestOf(steps) }
    const tables = await beginSession({ database, location, stock, keys, meta: current, ops })
    return { database, keys, meta: current, repaired, reopen, tables }
  } catch (error) {
    await database.close()
    if (stock.trusted.size > 0 && mayBeDamage(error)) return await openData(options, { tookOver, isThorough: true })
    throw error
  }
}

/** Whether a damaged table, trusted so far, may be what is behind an error. */
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
  const stock = await verifyFiles(location)
  const database = await reopen()
  try {
    return { database, keys, meta, repaired: false, reopen, tables: await beginSession({ database, location, stock, keys, meta }) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The keys with the one for digests that the data came with, from before its master key changed; `ops` write that once more. */
async function carried (database: Database, location: string, keys: Keys): Promise<{ keys: Keys, ops: RawOp[] }> {
  const value = await database.get(DIGEST)
  if (value === undefined) return { keys, ops: [] }
  try {
    return {
      keys: withDigestKey(keys, Buffer.from(unseal<{ key: string }>(keys, DIGEST, value).key, 'base64')),
      ops: [{ type: 'put', key: DIGEST, value }]
    }
  } catch (cause) {
    throw new StoreDamaged(location, 'the key of its names cannot be read', { cause })
  }
}

/** An empty directory is no database. One that a repair left ready is put in its place. */
async function exists (location: string, repairedCopy: string): Promise<boolean> {
  if ((await namesIn(location)).length > 0) return true
  if ((await namesIn(repairedCopy)).length === 0) return false
  await moveDirectory(repairedCopy, location)
  return true
}

/** Made beside its place and moved there when whole: a `data` directory without its meta record is a damaged one. */
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
  stock: FileManifest
  retries: number
}

async function openExisting ({ options, source, location, reopen, stock, retries }: Existing) {
  const { clock, log, openDatabase = openLevel } = options
  const mend = async (error: unknown) => {
    const { changed } = await verifyFiles(location, { isThorough: true })
    const suspects = [...new Set([...stock.changed, ...changed])]
    await repair({ location, error, suspects, clock, log, openDatabase, source })
    return { database: await reopen(), repaired: true, stock: { ...stock, ...noStock() } }
  }
  if (stock.changed.length > 0) return await mend(new Error('its files are not those that it was left with'))
  await markOpening(location, stock)
  // Before LevelDB can remove one of them.
  const unlinked = linkTables(location, stock.trusted.keys(), new Set(stock.merged.keys()))
  if (unlinked !== undefined) {
    log?.info({ err: unlinked }, 'tables cannot be linked here: those that a compaction removes before they are checked stay unchecked')
  }
  for (let left = retries; ; left--) {
    try {
      return { database: await reopen(), repaired: false, stock }
    } catch (error) {
      if (isCorrupt(error)) return await mend(error)
      if (rootOf(error).code !== 'LEVEL_LOCKED') throw error
      if (left === 0) throw new StoreInUse(options.dir)
      await clock.sleep(LOCKED_RETRY_MS)
    }
  }
}

/** Copies the closed database, unless a migration that was killed has already done so. */
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
