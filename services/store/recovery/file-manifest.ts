import { createHmac } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Identity } from './file-digest.ts'
import { namesIn } from '../database-files.ts'
import type { Keys } from '../encryption-keys.ts'

// LevelDB drops what it cannot read of its log, finds no key behind a broken index, and says nothing of either. So a
// database that is closed gets a list of its files with their digests, and every opening counts up a session in it and
// beside it: what was changed, cut or taken away while nobody had it open is found before it is used. A table never
// changes once it is written, so while the database is open the list holds those, for the start after a crash.

/** The list of a closed database; while it is open, it has the other name. */
const CLOSED = 'INVENTORY'
const OPEN = 'INVENTORY.open'
const DATABASE_FILE = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:ldb|sst|log))$/
const TABLE = /^\d+\.(?:ldb|sst)$/

export const isTable = (name: string): boolean => TABLE.test(name)

export interface TableEntry extends Identity {
  /** SHA-256 in hex; absent while nobody had the time to compute it. */
  digest?: string
  /** The session in which its content was last found whole; 0 for never. */
  checked: number
}

export interface Inventory {
  session: number
  /** SHA-256 by name; '' where there is none yet. While the database is open, tables only. */
  files: Record<string, string>
  /** What the tables among them are known by: inode, size, time, session of the last check. */
  tables?: Record<string, [ino: number, size: number, mtimeMs: number, checked: number]>
  /** Digests of tables that a compaction has removed before they were checked: links to them are left. */
  merged?: Record<string, string>
  /** Tables that were found damaged: the next start repairs the database. */
  damaged?: string[]
}

export interface ReadInventory {
  inventory?: Inventory
  isClosed: boolean
  isAuthentic(keys: Keys): boolean
}

/** The list that lies in the folder of a database, if one can be read. */
export async function readInventory (location: string): Promise<ReadInventory> {
  const [closed, open] = await Promise.all([readText(location, CLOSED), readText(location, OPEN)])
  const { inventory, mac } = parse(closed ?? open)
  return {
    inventory,
    isClosed: closed !== undefined && inventory !== undefined,
    isAuthentic: (keys) => inventory !== undefined && mac === macOf(keys, inventory)
  }
}

/** The entry of a table; undefined in a list of an earlier version, which has digests alone. */
export function entryOf ({ files, tables }: Inventory, name: string): TableEntry | undefined {
  const known = tables?.[name]
  if (!Array.isArray(known)) return undefined
  const [ino, size, mtimeMs, checked] = known
  return { ino, size, mtimeMs, checked, ...(files[name] && { digest: files[name] }) }
}

/** Names of the files that make up a database, in order. */
export const databaseFiles = async (location: string): Promise<string[]> =>
  (await namesIn(location)).filter((name) => DATABASE_FILE.test(name)).sort()

/** Says that the database is about to be opened. LevelDB syncs the directory before it changes anything in it. */
export async function markOpening (location: string, { session }: { session?: number }): Promise<void> {
  if (session === undefined) return await removeManifest(location)
  await rename(join(location, CLOSED), join(location, OPEN)).catch(unlessMissing)
}

/** Says which session has the database open, and what tables are known; on disk when it resolves. */
export const writeOpen = (location: string, keys: Keys, inventory: Inventory): Promise<void> => write(location, OPEN, keys, inventory)

/** Lists the files of a database that was closed; on disk when it resolves. */
export async function writeClosed (location: string, keys: Keys, inventory: Inventory): Promise<void> {
  await write(location, CLOSED, keys, inventory)
  await rm(join(location, OPEN), { force: true })
}

/** Takes the list away from a database whose files are made anew. */
export async function removeManifest (location: string): Promise<void> {
  for (const name of [CLOSED, OPEN]) await rm(join(location, name), { force: true, recursive: true })
}

/** Whether LevelDB left out parts of its log when it opened the database: it says so only in a log of its own. */
export async function hasDropped (location: string): Promise<boolean> {
  return / dropping \d+ bytes/.test(await readText(location, 'LOG') ?? '')
}

async function write (location: string, name: string, keys: Keys, inventory: Inventory): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(join(location, name), JSON.stringify({ ...inventory, mac: macOf(keys, inventory) }), { mode: 0o600 })
}

/** A text file of the database; undefined when there is none. */
export async function readText (location: string, name: string): Promise<string | undefined> {
  return await readFile(join(location, name), 'utf8').catch((error) => error.code === 'EISDIR' ? '' : unlessMissing(error))
}

function parse (text = ''): { inventory?: Inventory, mac?: string } {
  try {
    const { mac, ...inventory } = JSON.parse(text)
    const { session, files, tables = {}, merged = {}, damaged = [] } = inventory
    const isList = Number.isSafeInteger(session) && [files, tables, merged].every((part) => typeof part === 'object' && part !== null) &&
      Array.isArray(damaged)
    return isList ? { inventory, mac } : {}
  } catch {
    return {}
  }
}

/** A list of an earlier version had no more than its first two parts. */
function macOf (keys: Keys, { session, files, ...rest }: Inventory): string {
  const { tables, merged, damaged } = rest
  const extra = [tables, merged, damaged].some((part) => part !== undefined) ? [tables ?? null, merged ?? null, damaged ?? null] : []
  return createHmac('sha256', keys.inventory).update(JSON.stringify([session, files, ...extra])).digest('hex')
}

function unlessMissing (error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
