import { randomBytes } from 'node:crypto'
import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database, RawOp } from './database.ts'
import { syncFolder, writeAtomically } from '../lib/file-system.ts'
import { deriveFromPassphrase, deriveKeys, type Keys, MASTER_BYTES, newKdf, withDigestKey } from './encryption-keys.ts'
import type { Meta } from './meta-record.ts'
import { DIGEST } from './record-names.ts'
import { unseal } from './seal.ts'
import { StoreDamaged, StoreKeyError } from './store-errors.ts'

/** Sources of the master key: a passphrase or, without one, a file in `dir`. */
export interface KeySource {
  dir: string
  passphrase: string | undefined
}

/** Returns the keys for a new database and the description of their origin to store with it. */
export async function newKeys ({ dir, passphrase }: KeySource): Promise<{ keys: Keys, origin: Omit<Meta, 'schema'> }> {
  if (passphrase !== undefined) {
    const kdf = newKdf()
    const keys = deriveKeys(await deriveFromPassphrase(passphrase, kdf))
    return { keys, origin: { kid: keys.kid.toString('hex'), source: 'passphrase', kdf } }
  }
  const keys = deriveKeys(await readKeyFile(dir) ?? await makeKeyFile(dir))
  return { keys, origin: { kid: keys.kid.toString('hex'), source: 'file' } }
}

/**
 * Returns the keys of an open database. A digest key that is stored in the database replaces the one derived from the master key. `ops`
 * write the record of the stored digest key again. Throws StoreKeyError, and StoreDamaged when that record cannot be read.
 */
export async function openKeys (
  database: Database,
  location: string,
  meta: Meta,
  source: KeySource
): Promise<{ keys: Keys, ops: RawOp[] }> {
  const keys = await keysFor(meta, source)
  const value = await database.get(DIGEST)
  if (value === undefined) return { keys, ops: [] }
  try {
    const { key } = unseal<{ key: string }>(keys, DIGEST, value)
    return { keys: withDigestKey(keys, Buffer.from(key, 'base64')), ops: [{ type: 'put', key: DIGEST, value }] }
  } catch (cause) {
    throw new StoreDamaged(location, 'the key for its record names cannot be read', { cause })
  }
}

/** Returns the keys of an existing database. Never creates new ones. Throws StoreKeyError when the key is missing or wrong. */
export async function keysFor (meta: Meta, source: KeySource): Promise<Keys> {
  const keys = deriveKeys(meta.source === 'file' ? await masterFromFile(source) : await masterFromPassphrase(meta, source))
  if (keys.kid.toString('hex') === meta.kid) return keys
  throw new StoreKeyError(
    meta.source === 'file'
      ? `${pathIn(source.dir)} is not the key that the data was written with. Put the right key file back.`
      : 'LOCAL_AGENT_PASSPHRASE is not the passphrase that the data was written with. Set the right one.'
  )
}

async function masterFromFile ({ dir, passphrase }: KeySource): Promise<Buffer> {
  if (passphrase !== undefined) {
    throw new StoreKeyError('The data is protected by a key file, not by a passphrase. Unset LOCAL_AGENT_PASSPHRASE.')
  }
  const master = await readKeyFile(dir)
  if (master !== undefined) return master
  throw new StoreKeyError(
    `The key file ${pathIn(dir)} is missing, and without it the data cannot be read. ` +
      `Put it back from a backup, or move ${join(dir, 'data')} away to start empty.`
  )
}

async function masterFromPassphrase ({ kdf }: Meta, { passphrase }: KeySource): Promise<Buffer> {
  if (passphrase === undefined || kdf === undefined) {
    throw new StoreKeyError('The data is protected by a passphrase. Set LOCAL_AGENT_PASSPHRASE.')
  }
  return await deriveFromPassphrase(passphrase, kdf)
}

/** Generates new keys. Without a passphrase, `file` holds the bytes for the key file. */
export async function generateKeys (passphrase: string | undefined): Promise<{ keys: Keys, origin: Omit<Meta, 'schema'>, file?: Buffer }> {
  if (passphrase !== undefined) return newKeys({ dir: '', passphrase })
  const file = randomBytes(MASTER_BYTES)
  const keys = deriveKeys(file)
  return { keys, origin: { kid: keys.kid.toString('hex'), source: 'file' }, file }
}

const pathIn = (dir: string): string => join(dir, 'master.key')

async function readKeyFile (dir: string): Promise<Buffer | undefined> {
  const path = pathIn(dir)
  try {
    const [master, { mode }] = await Promise.all([readFile(path), stat(path)])
    if (master.length !== MASTER_BYTES) throw new StoreKeyError(`${path} is not a key file. Put the right one back.`)
    if ((mode & 0o077) !== 0) await chmod(path, 0o600)
    return master
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates the key file. It must be on disk before the first record, because records cannot be read without it. */
async function makeKeyFile (dir: string): Promise<Buffer> {
  const master = randomBytes(MASTER_BYTES)
  await writeAtomically(pathIn(dir), master)
  await syncFolder(dir)
  return master
}
