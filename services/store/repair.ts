import { rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Clock } from '../clock/clock.ts'
import type { StoreLog } from './contract.ts'
import { chunks, type Database, type OpenDatabase, type RawOp } from './database.ts'
import { explain, StoreDamaged, StoreStartError } from './errors.ts'
import { copyDatabase, keepNewest, moveDirectory, stamp } from './files.ts'
import { dropInventory } from './inventory.ts'
import type { Keys } from './keys.ts'
import { keysFor, type KeySource } from './master.ts'
import { readMeta } from './meta.ts'
import { PLAIN } from './names.ts'
import { unseal } from './seal.ts'

interface Repair {
  location: string
  /** Why it did not open. */
  error: unknown
  clock: Clock
  log: StoreLog | undefined
  openDatabase: OpenDatabase
  source: KeySource
}

/** Copies of damaged databases that are kept. */
const KEPT = 2

/**
 * Repairs a copy, checks that it opens, and puts it in the place of the damaged database, which is kept. LevelDB
 * rebuilds what it can from the tables and logs it finds; what it found but nobody can decipher is left out. Throws
 * StoreDamaged or StoreKeyError, with everything as it was, if it cannot.
 */
export async function repair ({ location, error, clock, log, openDatabase, source }: Repair): Promise<void> {
  log?.warn({ err: error }, 'the database is damaged, repairing it')
  const copy = `${location}.repair`
  await rm(copy, { recursive: true, force: true })
  await copyDatabase(location, copy)
  let unreadable = 0
  try {
    await dropInventory(copy)
    const { ClassicLevel } = await import('classic-level')
    await ClassicLevel.repair(copy)
    const database = await openDatabase(copy, { createIfMissing: false })
    try {
      unreadable = await removeUnreadable(database, await keysFor(await readMeta(database, location), source))
    } finally {
      await database.close()
    }
  } catch (cause) {
    await rm(copy, { recursive: true, force: true })
    throw cause instanceof StoreStartError ? cause : new StoreDamaged(location, explain(error), { cause })
  }
  const kept = `${location}.damaged-${stamp(clock.now())}`
  await moveDirectory(location, kept)
  await moveDirectory(copy, location) // a start that finds only the copy does this step
  await keepNewest(dirname(location), `${basename(location)}.damaged-`, KEPT)
  log?.warn({ kept, unreadable }, 'the database was repaired; records that could not be recovered are missing')
}

/** Otherwise one of them would fail every listing that comes across it, for ever. */
async function removeUnreadable (database: Database, keys: Keys): Promise<number> {
  let removed = 0
  for await (const chunk of chunks(database, {})) {
    const ops = chunk.filter(([key, envelope]) => !PLAIN.has(key) && !opens(keys, key, envelope)).map(([key]): RawOp => ({ type: 'del', key }))
    if (ops.length > 0) await database.batch(ops, { sync: true })
    removed += ops.length
  }
  return removed
}

function opens (keys: Keys, key: string, envelope: Buffer): boolean {
  try {
    unseal(keys, key, envelope)
    return true
  } catch {
    return false
  }
}
