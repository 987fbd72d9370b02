import type { Clock } from '../../lib/clock.ts'
import type { Database, RawOp } from '../database.ts'
import { hasDropped } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { metaOp, type Meta } from '../meta-record.ts'
import { SESSION } from '../record-names.ts'
import { isCut, verifyFiles, type FileManifest } from './known-files.ts'
import { createTableList, type TableList } from './table-list.ts'

/** A database that was opened, and what was known of it before. */
interface Session {
  database: Database
  location: string
  stock: FileManifest
  keys: Keys
}

/** Looks again for a while at a log that is cut: a dead process may still be ending a write to it. */
export async function settledManifest (location: string, { clock, retries, wait, isThorough }: {
  clock: Clock,
  retries: number,
  wait: number,
  isThorough?: boolean
}): Promise<FileManifest> {
  for (let left = retries; left > 0 && await isCut(location); left--) await clock.sleep(wait)
  return await verifyFiles(location, { isThorough })
}

/** Whether the opened database has less in it than what was acknowledged, as far as can be told. */
export async function lacksAcknowledgedData ({ database, location, stock, keys }: Session): Promise<boolean> {
  if (stock.isCut || await hasDropped(location)) return true
  const session = await sessionOf(database)
  return stock.session === undefined ? session > 0 : session < stock.session || !stock.isAuthentic(keys)
}

/**
 * Counts the session, in the database first, and writes once more what describes the database (`ops` too): without those
 * records everything would be lost, so they had better lie in more than one file. Returns the list of its tables.
 */
export async function beginSession (
  { database, location, stock, keys, meta, ops = [] }: Session & { meta: Meta, ops?: RawOp[] }
): Promise<TableList> {
  const session = Math.max(await sessionOf(database), stock.session ?? 0) + 1
  await database.batch([metaOp(meta), ...ops, { type: 'put', key: SESSION, value: Buffer.from(String(session)) }], { sync: true })
  const tables = createTableList({ location, keys, session, stock })
  await tables.begin()
  return tables
}

const sessionOf = async (database: Database): Promise<number> => Number(await database.get(SESSION) ?? 0) || 0
