import type { Clock } from '../../lib/clock.ts'
import type { Database, RawOp } from '../database.ts'
import { hasDropped } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { metaOp, type Meta } from '../meta-record.ts'
import { SESSION } from '../record-names.ts'
import { isCut, verifyFiles, type FileManifest } from './known-files.ts'
import { createTableList, type TableList } from './table-list.ts'

/** An open database and the manifest that was verified before. */
interface Session {
  database: Database
  location: string
  manifest: FileManifest
  keys: Keys
}

/** Verifies the files of a database. Waits first while its log ends within a record: a dying process may still be writing to it. */
export async function settledManifest (location: string, { clock, retries, wait, isThorough }: {
  clock: Clock,
  retries: number,
  wait: number,
  isThorough?: boolean
}): Promise<FileManifest> {
  for (let retriesLeft = retries; retriesLeft > 0 && await isCut(location); retriesLeft--) await clock.sleep(wait)
  return await verifyFiles(location, { isThorough })
}

/** Whether the opened database provably lacks acknowledged writes. */
export async function lacksAcknowledgedData ({ database, location, manifest, keys }: Session): Promise<boolean> {
  if (manifest.isCut || await hasDropped(location)) return true
  const session = await sessionOf(database)
  return manifest.session === undefined ? session > 0 : session < manifest.session || !manifest.isAuthentic(keys)
}

/**
 * Increments the session counter, in the database first, and writes the records that describe the database (and `ops`) again.
 * Without those records all data would be unreadable, so they should be in more than one file. Returns the list of the
 * database's tables.
 */
export async function beginSession (
  { database, location, manifest, keys, meta, ops = [] }: Session & { meta: Meta, ops?: RawOp[] }
): Promise<TableList> {
  const session = Math.max(await sessionOf(database), manifest.session ?? 0) + 1
  await database.batch([metaOp(meta), ...ops, { type: 'put', key: SESSION, value: Buffer.from(String(session)) }], { sync: true })
  const tables = createTableList({ location, keys, session, manifest })
  await tables.begin()
  return tables
}

const sessionOf = async (database: Database): Promise<number> => Number(await database.get(SESSION) ?? 0) || 0
