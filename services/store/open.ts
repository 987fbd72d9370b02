import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreOptions } from './contract.ts'
import { openLevel, type Database, type OpenDatabase } from './database.ts'
import { rootOf, StoreInUse, StoreNewer } from './errors.ts'
import { copyDatabase, moveDirectory, namesIn, privateDirectory, stamp } from './files.ts'
import type { Keys } from './keys.ts'
import { keysFor, newKeys } from './master.ts'
import { metaOp, readMeta, type Meta } from './meta.ts'
import { migrate } from './migrate.ts'
import { migrations, newestOf } from './migrations.ts'
import { META, MIGRATING } from './names.ts'
import { isCorrupt, repair } from './repair.ts'

/** A database with its keys, of the newest schema. */
export interface Opened {
  database: Database
  keys: Keys
  repaired: boolean
  /** Opens the same database again after it was closed. */
  reopen (): Promise<Database>
}

const LOCKED_RETRIES = 40
const LOCKED_RETRY_MS = 25

/**
 * Opens `{dir}/data`, or makes it when there is none. The caller holds the directory's lock; `tookOver` says that its
 * last holder died, whose file lock the kernel may release a moment later.
 */
export async function openData (options: StoreOptions, { tookOver }: { tookOver: boolean }): Promise<Opened> {
  const { dir, clock, openDatabase = openLevel, migrations: steps = migrations } = options
  const source = { dir, passphrase: options.passphrase || undefined }
  const location = join(dir, 'data')
  const reopen = () => openDatabase(location, { createIfMissing: false })

  if (!await exists(location, `${location}.repair`)) {
    const { keys, origin } = await newKeys(source)
    await create(location, { ...origin, schema: newestOf(steps) }, openDatabase)
    return { database: await reopen(), keys, repaired: false, reopen }
  }

  let { database, repaired } = await openExisting(options, location, reopen, tookOver ? LOCKED_RETRIES : 0)
  try {
    const meta = await readMeta(database, location)
    if (meta.schema > newestOf(steps)) throw new StoreNewer(meta.schema, newestOf(steps))
    const keys = await keysFor(meta, source)
    if (meta.schema < newestOf(steps)) {
      database = await keepCopy(database, location, `${location}.v${meta.schema}-${stamp(clock.now())}`, reopen)
      options.log?.info({ from: meta.schema, to: newestOf(steps) }, 'migrating the store')
      await migrate(database, keys, meta, steps)
    }
    return { database, keys, repaired, reopen }
  } catch (error) {
    await database.close()
    throw error
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

async function openExisting (options: StoreOptions, location: string, reopen: () => Promise<Database>, retries: number) {
  for (let left = retries; ; left--) {
    try {
      return { database: await reopenReadable(reopen), repaired: false }
    } catch (error) {
      if (isCorrupt(error)) {
        await repair({ location, error, clock: options.clock, log: options.log, openDatabase: options.openDatabase ?? openLevel })
        return { database: await reopen(), repaired: true }
      }
      if (rootOf(error).code !== 'LEVEL_LOCKED') throw error
      if (left === 0) throw new StoreInUse(options.dir)
      await options.clock.sleep(LOCKED_RETRY_MS)
    }
  }
}

/** LevelDB opens over a broken table and fails when it reads: better now than later. */
async function reopenReadable (reopen: () => Promise<Database>): Promise<Database> {
  const database = await reopen()
  try {
    await database.get(META)
    return database
  } catch (error) {
    await database.close()
    throw error
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
