import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { basename, dirname, parse } from 'node:path'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/clock.ts'
import { chunks, type Database, type OpenDatabase, type RawOp } from '../database.ts'
import { explain, StoreDamaged } from '../store-errors.ts'
import { copyDatabase, keepNewest, moveDirectory, privateDirectory, stamp } from '../database-files.ts'
import type { Keys } from '../encryption-keys.ts'
import { keysFor, type KeySource } from '../master-key.ts'
import { readMeta, type SchemaVersion } from '../meta-record.ts'
import { describesDatabase } from '../record-names.ts'
import { unseal } from '../seal.ts'

/** How many copies of damaged databases are kept. */
const KEPT = 2
/** Deadline of the salvage process, far longer than the largest database needs. */
const SALVAGE_MS = 10 * 60_000

/**
 * Builds a new database from the records that LevelDB can recover from a copy, checks that it is readable, and puts it in place of
 * the damaged one, which is kept. Drops records that cannot be decrypted. When the repair fails, it changes nothing and throws
 * a StoreStartError.
 */
export async function repair ({ location, error, suspects, clock, log, openDatabase, source, newest }: {
  location: string
  /** The error of the failed opening. */
  error: unknown
  /** Names of files that are known to be damaged. */
  suspects: string[]
  clock: Clock
  log: Log | undefined
  openDatabase: OpenDatabase
  source: KeySource
  /** The newest schema that can be read. */
  newest: SchemaVersion
}): Promise<void> {
  log?.warn({ err: error, suspects }, 'the database is damaged, repairing it')
  const repaired = `${location}.repair`
  let unreadable = 0
  try {
    // LevelDB can crash on a damaged table. The second attempt therefore excludes the suspects and recovers only the other
    // tables.
    if (
      !await salvage(location, repaired, []) && !await salvage(location, repaired, suspects.filter((name) => /\.(ldb|sst)$/.test(name)))
    ) {
      throw new StoreDamaged(location, explain(error), { cause: error })
    }
    const database = await openDatabase(repaired, { createIfMissing: false })
    try {
      unreadable = await removeUnreadable(database, await keysFor(await readMeta(database, location, newest), source))
    } finally {
      await database.close()
    }
  } catch (cause) {
    await rm(repaired, { recursive: true, force: true })
    throw cause
  }
  const kept = `${location}.damaged-${stamp(clock.now())}`
  await moveDirectory(location, kept)
  await moveDirectory(repaired, location) // after a crash before this step, the next start does it
  await keepNewest(dirname(location), `${basename(location)}.damaged-`, KEPT)
  log?.warn({ kept, unreadable }, 'the database was repaired; records that could not be recovered are missing')
}

/** Builds a new database from a copy of a damaged one, without the excluded files, in a child process. Returns false on failure. */
async function salvage (damaged: string, repaired: string, excluded: string[]): Promise<boolean> {
  const copy = `${damaged}.salvage`
  for (const path of [copy, repaired]) await rm(path, { recursive: true, force: true })
  await copyDatabase(damaged, copy, excluded)
  privateDirectory(repaired)
  const { childProgram, spawnIsolated } = await import('../../process/index.ts')
  const { command, args, env, input } = childProgram('salvage', [copy, repaired])
  const child = spawnIsolated(command, args, {
    // Node does not start in a folder that was deleted, as the service's folder might be.
    cwd: parse(copy).root,
    env,
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    timeout: SALVAGE_MS,
    killSignal: 'SIGKILL'
  })
  // The exit code reports a child that ended before it read its program.
  child.stdin!.on('error', () => {}).end(input)
  const [code] = await once(child, 'exit')
  await rm(copy, { recursive: true, force: true })
  return code === 0
}

/** Removes records that cannot be decrypted, because each would make every listing that reaches it fail. Returns their number. */
async function removeUnreadable (database: Database, keys: Keys): Promise<number> {
  let removed = 0
  for await (const chunk of chunks(database, {})) {
    const ops = chunk.filter(([key, envelope]) => !describesDatabase(key) && !canDecrypt(keys, key, envelope))
      .map(([key]): RawOp => ({ type: 'del', key }))
    if (ops.length > 0) await database.batch(ops, { sync: true })
    removed += ops.length
  }
  return removed
}

function canDecrypt (keys: Keys, key: string, envelope: Buffer): boolean {
  try {
    unseal(keys, key, envelope)
    return true
  } catch {
    return false
  }
}
