import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { diskTrouble } from '../disk-failure.ts'
import { chunks } from '../database.ts'
import { StoreNoRoom } from '../store-errors.ts'
import { namesIn, syncDirectory } from '../database-files.ts'
import { withDigestKey, type Keys } from '../encryption-keys.ts'
import { acquireLock } from '../directory-lock.ts'
import { freshKeys } from '../master-key.ts'
import { isOwn } from '../record-names.ts'
import { createStagedDatabase } from './staged-database.ts'
import { openData, type Opened } from '../open.ts'
import { commitReplacement, finishReplacement } from './replace.ts'
import { unseal } from '../seal.ts'
import { NEXT_KEY } from './pending.ts'

interface Parts {
  dir: string
  /** Of the data as they are; none when there is a key file. */
  passphrase?: string
  /** Of the data as they are to be; none: a new key file. */
  newPassphrase?: string
  clock: Clock
  /** Told how far it is. */
  say: (line: string) => void
}

const NOTHING = 'There is no data yet; nothing was changed.'
/** Records between two words of how far it is. */
const SAID_EVERY = 10_000

/**
 * Enciphers all data anew, with a key that nobody has had before, into a database beside the old one, which then takes its
 * place. Killed at any moment it leaves either; run again it ends what was decided. Throws StoreStartError.
 */
export async function rotateKey ({ dir, passphrase, newPassphrase, clock, say }: Parts): Promise<void> {
  if ((await namesIn(dir)).length === 0) return say(NOTHING)
  const lock = await acquireLock(dir, { clock })
  try {
    const ended = await finishReplacement(dir)
    // What an import had decided changes no key.
    if (ended !== undefined && ended.key !== 'keep') return say('The change of the key that was interrupted is finished.')
    if (!(await namesIn(dir)).some((name) => name === 'data' || name === 'data.repair')) return say(NOTHING)
    const tell = (_details: object, message: string) => say(message)
    const old = await openData({ dir, passphrase, clock, log: { info () {}, warn: tell, error: tell } }, { ...lock, isThorough: true })
      .catch(noRoom)
    let count: number
    try {
      count = await copy(old, dir, newPassphrase || undefined, say)
    } catch (error) {
      await old.database.close()
      await old.tables.seal().catch(() => {})
      await finishReplacement(dir).catch(() => {})
      return noRoom(error)
    }
    await old.database.close()
    await commitReplacement(dir, { key: newPassphrase ? 'remove' : 'replace', copies: true })
    await finishReplacement(dir)
    say(
      `${count} records are enciphered with the new key, and the old one is of no use any more. ` +
        (newPassphrase ? 'Start the service with LOCAL_AGENT_PASSPHRASE set to the new passphrase.' : 'The new one is in master.key.')
    )
  } finally {
    lock.release()
  }
}

function noRoom (error: unknown): never {
  const trouble = diskTrouble(error)
  throw trouble === undefined ? error : new StoreNoRoom(trouble)
}

/** Makes the new database, whole and on disk. Returns how many records it holds. */
async function copy (old: Opened, dir: string, newPassphrase: string | undefined, say: Parts['say']): Promise<number> {
  const { keys: own, origin, file } = await freshKeys(newPassphrase)
  if (file !== undefined) await writeDurably(join(dir, NEXT_KEY), file)
  const keys = withDigestKey(own, old.keys.digest.export())
  const next = await createStagedDatabase({ dir, keys, meta: { ...origin, schema: old.meta.schema } })
  try {
    let count = 0
    let unreadable = 0
    for await (const chunk of chunks(old.database, {})) {
      const records = chunk.filter(([key]) => !isOwn(key)).flatMap(([key, envelope]) => open(old.keys, key, envelope))
      unreadable += chunk.filter(([key]) => !isOwn(key)).length - records.length
      await next.put(records)
      if (Math.floor((count + records.length) / SAID_EVERY) > Math.floor(count / SAID_EVERY)) {
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
    return [] // nobody can read it with the old key either
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
  await syncDirectory(join(path, '..'))
}
