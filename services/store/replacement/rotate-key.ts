import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { describeDiskFailure } from '../../lib/disk-failure.ts'
import { chunks } from '../database.ts'
import { StoreNoRoom } from '../store-errors.ts'
import { syncFolder } from '../../lib/file-system.ts'
import { namesIn } from '../database-files.ts'
import { withDigestKey, type Keys } from '../encryption-keys.ts'
import { acquireLock } from '../directory-lock.ts'
import { hasPendingErasure } from '../erasure/erase.ts'
import { generateKeys } from '../master-key.ts'
import { describesDatabase } from '../record-names.ts'
import { createStagedDatabase } from './staged-database.ts'
import { openData } from '../open.ts'
import type { Opened } from '../store.ts'
import { commitReplacement, finishReplacement, NEXT_KEY } from './replace.ts'
import { unseal } from '../seal.ts'

const NOTHING = 'There is no data yet; nothing was changed.'
const ERASING = 'The data is being erased: start the service, which finishes that. Nothing was changed.'
/** Records between two progress messages. */
const PROGRESS_EVERY = 10_000

/**
 * Re-encrypts all data with a newly generated key into a staged database, which then replaces the old one. A killed run leaves
 * either database intact; the next run finishes a committed replacement. Throws StoreStartError.
 */
export async function rotateKey ({ dir, passphrase, newPassphrase, clock, report }: {
  dir: string
  /** The current passphrase; undefined when there is a key file. */
  passphrase?: string
  /** The new passphrase; undefined to create a new key file. */
  newPassphrase?: string
  clock: Clock
  /** Called with progress messages. */
  report: (line: string) => void
}): Promise<void> {
  if ((await namesIn(dir)).length === 0) return report(NOTHING)
  const lock = await acquireLock(dir, { clock })
  try {
    if (hasPendingErasure(dir)) return report(ERASING)
    const finished = await finishReplacement(dir)
    // A pending import does not change the key.
    if (finished !== undefined && finished.key !== 'keep') return report('The interrupted key change is now complete.')
    if (!(await namesIn(dir)).some((name) => name === 'data' || name === 'data.repair')) return report(NOTHING)
    const logLine = (_details: object, message: string) => report(message)
    const log = { info () {}, warn: logLine, error: logLine }
    const old = await openData({ dir, passphrase, clock, log }, { ...lock, isThorough: true }).catch(rethrowDiskFailure)
    let count: number
    try {
      count = await copy(old, dir, newPassphrase || undefined, report)
    } catch (error) {
      await old.database.close()
      await old.tables.seal().catch(() => {})
      await finishReplacement(dir).catch(() => {})
      return rethrowDiskFailure(error)
    }
    await old.database.close()
    await commitReplacement(dir, { key: newPassphrase ? 'remove' : 'replace', copies: true })
    await finishReplacement(dir)
    report(
      `${count} records were encrypted with the new key; the old key is no longer needed. ` +
        (newPassphrase ? 'Start the service with LOCAL_AGENT_PASSPHRASE set to the new passphrase.' : 'The new key is in master.key.')
    )
  } finally {
    lock.release()
  }
}

function rethrowDiskFailure (error: unknown): never {
  const diskFailure = describeDiskFailure(error)
  throw diskFailure === undefined ? error : new StoreNoRoom(diskFailure)
}

/** Builds the new database and syncs it. Returns the number of its records. */
async function copy (old: Opened, dir: string, newPassphrase: string | undefined, say: (line: string) => void): Promise<number> {
  const { keys: own, origin, file } = await generateKeys(newPassphrase)
  if (file !== undefined) await writeDurably(join(dir, NEXT_KEY), file)
  const keys = withDigestKey(own, old.keys.digest.export())
  const next = await createStagedDatabase({ dir, keys, meta: { ...origin, schema: old.meta.schema } })
  try {
    let count = 0
    let unreadable = 0
    for await (const chunk of chunks(old.database, {})) {
      const records = chunk.filter(([key]) => !describesDatabase(key)).flatMap(([key, envelope]) => open(old.keys, key, envelope))
      unreadable += chunk.filter(([key]) => !describesDatabase(key)).length - records.length
      await next.put(records)
      if (Math.floor((count + records.length) / PROGRESS_EVERY) > Math.floor(count / PROGRESS_EVERY)) {
        say(`${count + records.length} records so far`)
      }
      count += records.length
    }
    await next.finish()
    if (unreadable > 0) say(`${unreadable} records could not be read and were left out.`)
    return count
  } catch (error) {
    await next.discard()
    throw error
  }
}

function open (keys: Keys, key: string, envelope: Buffer): Array<[string, unknown]> {
  try {
    return [[key, unseal(keys, key, envelope)]]
  } catch {
    return [] // the old key cannot decrypt it either
  }
}

async function writeDurably (path: string, bytes: Buffer): Promise<void> {
  const file = await openFile(path, 'w', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncFolder(join(path, '..'))
}
