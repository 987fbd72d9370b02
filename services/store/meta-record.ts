import { entries, type Database, type RawOp } from './database.ts'
import { StoreDamaged, StoreNewer, StoreOlder } from './store-errors.ts'
import type { Kdf } from './encryption-keys.ts'
import { META } from './record-names.ts'
import { ageOf, readSchema, schemaName, type SchemaVersion } from './schema-version.ts'

/** The unencrypted record: what the service must know before it has a key. */
export interface Meta {
  schema: SchemaVersion
  /** Key id in hex. */
  kid: string
  source: 'file' | 'passphrase'
  kdf?: Kdf
}

export const metaOp = (meta: Meta): RawOp => ({ type: 'put', key: META, value: Buffer.from(JSON.stringify(meta)) })

/**
 * Reads the meta record. Throws StoreDamaged when it is missing or unreadable, because a database is always created with it, and
 * StoreOlder or StoreNewer when a program whose newest schema is `newest` cannot read the data.
 */
export async function readMeta (database: Database, location: string, newest: SchemaVersion): Promise<Meta> {
  const stored = await database.get(META)
  if (stored === undefined) {
    const { done } = await entries(database, { limit: 1 }).next()
    throw new StoreDamaged(location, done ? 'it holds no records' : 'the record that describes it is missing')
  }
  const meta = parse(stored)
  if (meta === undefined) throw new StoreDamaged(location, 'the record that describes it cannot be read')
  switch (ageOf(meta.schema, newest)) {
    case 'older':
      throw new StoreOlder(location)
    case 'newer':
      throw new StoreNewer(schemaName(meta.schema), schemaName(newest))
    case 'readable':
      return meta
  }
}

function parse (stored: Buffer): Meta | undefined {
  try {
    const { schema: written, ...meta }: Omit<Meta, 'schema'> & { schema: unknown } = JSON.parse(stored.toString())
    const schema = readSchema(written)
    const hasSource = meta.source === 'file' || (meta.source === 'passphrase' && typeof meta.kdf?.salt === 'string')
    return schema !== undefined && typeof meta.kid === 'string' && hasSource ? { ...meta, schema } : undefined
  } catch {
    return undefined
  }
}
