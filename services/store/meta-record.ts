import { entries, type Database, type RawOp } from './database.ts'
import { StoreDamaged } from './store-errors.ts'
import type { Kdf } from './encryption-keys.ts'
import { META } from './record-names.ts'

/** The unencrypted record: what the service must know before it has a key. */
export interface Meta {
  schema: number
  /** Key id in hex. */
  kid: string
  source: 'file' | 'passphrase'
  kdf?: Kdf
}

export const metaOp = (meta: Meta): RawOp => ({ type: 'put', key: META, value: Buffer.from(JSON.stringify(meta)) })

/** Reads the meta record. Throws StoreDamaged when it is missing or unreadable, because a database is always created with it. */
export async function readMeta (database: Database, location: string): Promise<Meta> {
  const stored = await database.get(META)
  if (stored === undefined) {
    const { done } = await entries(database, { limit: 1 }).next()
    throw new StoreDamaged(location, done ? 'it holds no records' : 'the record that describes it is missing')
  }
  const meta = parse(stored)
  if (meta === undefined) throw new StoreDamaged(location, 'the record that describes it cannot be read')
  return meta
}

function parse (stored: Buffer): Meta | undefined {
  try {
    const meta: Meta = JSON.parse(stored.toString())
    const hasSource = meta.source === 'file' || (meta.source === 'passphrase' && typeof meta.kdf?.salt === 'string')
    return Number.isSafeInteger(meta.schema) && typeof meta.kid === 'string' && hasSource ? meta : undefined
  } catch {
    return undefined
  }
}
