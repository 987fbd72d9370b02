import { firstOf } from '../lib/first-of.ts'
import { readJson } from '../lib/json.ts'
import { entries, type Database, type RawOp } from './database.ts'
import { StoreDamaged, StoreNewer, StoreOlder } from './store-errors.ts'
import type { Kdf } from './encryption-keys.ts'
import { META } from './record-names.ts'

/** The form of stored data: `version` counts the migrations that were made since the base schema `base`. */
export interface SchemaVersion {
  base: number
  version: number
}

/** Returns whether a program whose newest schema is `newest` can read data of the schema `found`, and if not, which of the two is older. */
export function ageOf (found: SchemaVersion, newest: SchemaVersion): 'readable' | 'older' | 'newer' {
  if (found.base !== newest.base) return found.base < newest.base ? 'older' : 'newer'
  return found.version > newest.version ? 'newer' : 'readable'
}

/** Returns the schema that a store or a backup names; undefined when it names none. Builds before base schema 1 wrote one number. */
export function readSchema (written: unknown): SchemaVersion | undefined {
  if (Number.isSafeInteger(written)) return { base: 0, version: written as number }
  const { base, version } = (written ?? {}) as Partial<SchemaVersion>
  return Number.isSafeInteger(base) && Number.isSafeInteger(version) ? { base: base!, version: version! } : undefined
}

/** The name of a schema in sentences. */
export const schemaName = ({ base, version }: SchemaVersion): string => `${base}.${version}`

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
    const first = await firstOf(entries(database, { limit: 1 }))
    throw new StoreDamaged(location, first === undefined ? 'it holds no records' : 'the record that describes it is missing')
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
  const { schema: written, ...meta }: Omit<Meta, 'schema'> & { schema: unknown } = readJson(stored.toString()) ?? {}
  const schema = readSchema(written)
  const hasSource = meta.source === 'file' || (meta.source === 'passphrase' && typeof meta.kdf?.salt === 'string')
  return schema !== undefined && typeof meta.kid === 'string' && hasSource ? { ...meta, schema } : undefined
}
