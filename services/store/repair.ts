import { rm } from 'node:fs/promises'
import type { Clock } from '../clock/clock.ts'
import type { StoreLog } from './contract.ts'
import type { OpenDatabase } from './database.ts'
import { explain, rootOf, StoreDamaged } from './errors.ts'
import { copyDatabase, moveDirectory, stamp } from './files.ts'
import { readMeta } from './meta.ts'

/** Whether LevelDB found its files missing or broken, rather than locked, forbidden or on a full disk. */
export function isCorrupt (error: unknown): boolean {
  const { code, message } = rootOf(error)
  return code === 'LEVEL_CORRUPTION' || /does not exist|No such file|Invalid argument/.test(message)
}

interface Repair {
  location: string
  /** Why it did not open. */
  error: unknown
  clock: Clock
  log: StoreLog | undefined
  openDatabase: OpenDatabase
}

/**
 * Repairs a copy, checks that it opens, and puts it in the place of the damaged database, which is kept. LevelDB
 * rebuilds what it can from the tables and logs it finds. Throws StoreDamaged, with everything as it was, if it cannot.
 */
export async function repair ({ location, error, clock, log, openDatabase }: Repair): Promise<void> {
  log?.warn({ err: error }, 'the database is damaged, repairing it')
  const copy = `${location}.repair`
  await rm(copy, { recursive: true, force: true })
  await copyDatabase(location, copy)
  try {
    const { ClassicLevel } = await import('classic-level')
    await ClassicLevel.repair(copy)
    const database = await openDatabase(copy, { createIfMissing: false })
    await readMeta(database, location).finally(() => database.close())
  } catch (cause) {
    await rm(copy, { recursive: true, force: true })
    throw cause instanceof StoreDamaged ? cause : new StoreDamaged(location, explain(error), { cause })
  }
  const kept = `${location}.damaged-${stamp(clock.now())}`
  await moveDirectory(location, kept)
  await moveDirectory(copy, location) // a start that finds only the copy does this step
  log?.warn({ kept }, 'the database was repaired; records that could not be recovered are missing')
}
