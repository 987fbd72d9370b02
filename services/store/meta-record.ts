import { entries, type Database, type RawOp } from './database.ts'
import { StoreDamaged } from './store-errors.ts'
import type { Kdf } from './encryption-keys.ts'
import { META } from './record-names.ts'

/** The one unencrypted record: what is needed before there is a key. */
export interface Meta {
  schema: number
  /** Key id in hex. */
  kid: string
  source: 'file' | 'passphrase'
  kdf?: Kdf
}

export const metaOp = (meta: Meta): RawOp => ({ type: 'put', key: META, value: Buffer.from(JSON.stringify(meta)) })

/** Throws StoreDamaged when there is none, or none that can be read: a database is made together with it. */
export async function readMeta (database: Database, location: string): Promise<Meta> {
  const stored = await database.get(META)
  if (stored === undefined) {
    const { done } = await entries(database, { limit: 1 }).next()
    throw new StoreDamaged(location, done ? 'everything in it is gone' : 'the record that describes it is missing')
  }
  const meta = parse(stored)
  if (meta === undefined) throw new StoreDamaged(location, 'the record that describes it cannot be read')
  return meta
}

function parse (stored: Buffer): Meta | undefined {
  try {
    const meta: Meta = JSON.parse(stored.toString())
    const sourced = meta.source === 'file' || (meta.source === 'passphrase' && typeof meta.kdf?.salt === 'string')
    return Number.isSafeInteger(meta.schema) && typeof meta.kid === 'string' && sourced ? meta : undefined
  } catch {
    return undefined
  }
}
