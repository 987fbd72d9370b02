import { createHmac, hash } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../../lib/file-system.ts'
import { readJson } from '../../lib/json.ts'
import type { Clock } from '../../lib/clock.ts'
import { digestFile, identityOf, isSameFile, namesIn, type Identity } from '../database-files.ts'
import type { Keys } from '../encryption-keys.ts'
import { endsWhole, isTableWhole, liveTables } from './leveldb-files.ts'
import { linkedTables, linkTo } from './unchecked-tables.ts'

// LevelDB silently drops log records that it cannot read and finds no keys behind a broken index. The service therefore writes a
// file manifest with digests when it closes a database. Each opening increments a session counter in the manifest and in the
// database, so changes, truncation and removal of files while the database was closed are detected before it is used. A table
// never changes once it is written, so while the database is open the manifest lists the tables, for a start after a crash.

/** Name of the manifest of a closed database. An open database uses the other name. */
const CLOSED = 'INVENTORY'
const OPEN = 'INVENTORY.open'
const DATABASE_FILE = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:ldb|sst|log))$/
const TABLE = /^\d+\.(?:ldb|sst)$/

export const isTable = (name: string): boolean => TABLE.test(name)

export interface TableEntry extends Identity {
  /** SHA-256 in hex; absent until it is computed. */
  digest?: string
  /** The session in which its content was last verified; 0 for never. */
  checked: number
}

export interface StoredManifest {
  session: number
  /** SHA-256 by file name; '' when unknown. Holds only tables while the database is open. */
  files: Record<string, string>
  /** Identity of each table: inode, size, modification time, session of the last check. */
  tables: Record<string, [ino: number, size: number, mtimeMs: number, checked: number]>
  /** Digests of tables that a compaction removed before they were checked. Hard links to them still exist. */
  merged?: Record<string, string>
  /** Damaged tables. When there are any, the next start repairs the database. */
  damaged?: string[]
}

interface ReadManifest {
  inventory?: StoredManifest
  isClosed: boolean
  isAuthentic(keys: Keys): boolean
}

/** Reads the manifest of a database. `inventory` is undefined when it is missing or unreadable. */
async function readManifest (location: string): Promise<ReadManifest> {
  const [closed, open] = await Promise.all([readText(location, CLOSED), readText(location, OPEN)])
  const { inventory, mac } = parse(closed ?? open)
  return {
    inventory,
    isClosed: closed !== undefined && inventory !== undefined,
    isAuthentic: (keys) => inventory !== undefined && mac === macOf(keys, inventory)
  }
}

/** Returns the entry of a table; undefined when the manifest lists none. */
function entryOf ({ files, tables }: StoredManifest, name: string): TableEntry | undefined {
  const entry = tables[name]
  if (!Array.isArray(entry)) return undefined
  const [ino, size, mtimeMs, checked] = entry
  return { ino, size, mtimeMs, checked, ...(files[name] && { digest: files[name] }) }
}

/** Lists the names of the files of a database, sorted. */
export const databaseFiles = async (location: string): Promise<string[]> =>
  (await namesIn(location)).filter((name) => DATABASE_FILE.test(name)).sort()

/** Marks the manifest as open before the database is opened. Needs no sync, because LevelDB syncs the directory before it changes it. */
export async function markOpening (location: string, { session }: { session?: number }): Promise<void> {
  if (session === undefined) return await removeManifest(location)
  await rename(join(location, CLOSED), join(location, OPEN)).catch(unlessMissing)
}

/** Writes the manifest of an open database: its session and known tables. Resolves when it is on disk. */
export const writeOpen = (location: string, keys: Keys, inventory: StoredManifest): Promise<void> => write(location, OPEN, keys, inventory)

/** Writes the manifest of a closed database. Resolves when it is on disk. */
export async function writeClosed (location: string, keys: Keys, inventory: StoredManifest): Promise<void> {
  await write(location, CLOSED, keys, inventory)
  await rm(join(location, OPEN), { force: true })
}

/** Removes the manifest of a database whose files are created anew. */
async function removeManifest (location: string): Promise<void> {
  for (const name of [CLOSED, OPEN]) await rm(join(location, name), { force: true, recursive: true })
}

/** Whether LevelDB dropped parts of its log when it opened the database. LevelDB reports this only in its LOG file. */
export async function hasDropped (location: string): Promise<boolean> {
  return / dropping \d+ bytes/.test(await readText(location, 'LOG') ?? '')
}

async function write (location: string, name: string, keys: Keys, inventory: StoredManifest): Promise<void> {
  await writeAtomically(join(location, name), JSON.stringify({ ...inventory, mac: macOf(keys, inventory) }))
}

/** Reads a text file of the database. Returns undefined when it does not exist. */
async function readText (location: string, name: string): Promise<string | undefined> {
  return await readFile(join(location, name), 'utf8').catch((error) => error.code === 'EISDIR' ? '' : unlessMissing(error))
}

function parse (text = ''): { inventory?: StoredManifest, mac?: string } {
  const { mac, ...inventory } = readJson(text) ?? {}
  const { session, files, tables, merged = {}, damaged = [] } = inventory
  const isValid = Number.isSafeInteger(session) && [files, tables, merged].every((part) => typeof part === 'object' && part !== null) &&
    Array.isArray(damaged)
  return isValid ? { inventory, mac } : {}
}

/** Computes the MAC of a manifest. */
function macOf (keys: Keys, { session, files, tables, merged, damaged }: StoredManifest): string {
  return createHmac('sha256', keys.inventory).update(JSON.stringify([session, files, tables, merged, damaged])).digest('hex')
}

function unlessMissing (error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** The verified state of a database's files before it is opened. */
export interface FileManifest {
  /** The last recorded session; undefined when no manifest can be read. */
  session?: number
  /** For a closed database: files that changed or are missing since it was closed. Otherwise: its broken tables. */
  changed: string[]
  /** The database was not closed and its log ends within a record, as after a power cut or a truncation. */
  isCut: boolean
  /** Tables that were read and are intact. */
  verified: Map<string, TableEntry>
  /** Tables that match the manifest by inode, size and modification time; their content is not checked yet. */
  trusted: Map<string, TableEntry>
  /** Digests ('' when unknown) of tables that left the database before they were checked. */
  merged: Map<string, string>
  /** Whether the manifest was authenticated with the key of the data. */
  isAuthentic(keys: Keys): boolean
}

/** Returns the part of a manifest that describes tables, without any table. */
export const emptyTables = (): Pick<FileManifest, 'verified' | 'trusted' | 'merged'> => ({
  verified: new Map(),
  trusted: new Map(),
  merged: new Map()
})

/**
 * Compares the files of a database with its manifest. Tables that match the manifest by inode, size and time are not read,
 * unless `isThorough`, so the duration does not grow with the amount of data. All other files are read.
 */
export async function verifyFiles (location: string, { isThorough = false } = {}): Promise<FileManifest> {
  const { inventory, isClosed, isAuthentic } = await readManifest(location)
  const manifest: FileManifest = {
    session: inventory?.session,
    changed: [...inventory?.damaged ?? []],
    isCut: false,
    isAuthentic,
    ...emptyTables()
  }
  const live = await liveTables(location)
  const isLive = (name: string) => isTable(name) && live.has(parseInt(name))
  const names = await databaseFiles(location)
  // LevelDB removes unused tables, and might use their numbers again: they are compared, but not known.
  for (const name of isClosed ? new Set([...names, ...Object.keys(inventory!.files)]) : names.filter(isLive)) {
    const path = join(location, name)
    const identity = identityOf(path)
    const entry = inventory && entryOf(inventory, name)
    if (!isThorough && isLive(name) && isSameFile(entry, identity)) {
      manifest.trusted.set(name, entry!)
      continue
    }
    if (isTable(name) && !isLive(name) && inventory?.files[name] === '') continue
    const digest = await digestIfIntact(path, { identity, listed: inventory?.files[name], isClosed })
    if (digest === undefined) manifest.changed.push(name)
    else if (isLive(name)) manifest.verified.set(name, { ...identity!, digest, checked: 0 })
  }
  if (!isClosed) manifest.isCut = await isCut(location)
  await addRemovedTables(location, manifest, inventory, isThorough)
  return manifest
}

/**
 * Reads a file. Returns its digest if it equals the listed digest or, without a listed one, if the file is a table with valid
 * LevelDB checksums. Otherwise returns undefined. A missing table of a database that was not closed is detected by LevelDB
 * itself.
 */
async function digestIfIntact (
  path: string,
  { identity, listed, isClosed }: { identity?: Identity, listed?: string, isClosed: boolean }
): Promise<string | undefined> {
  if (identity === undefined || (isClosed && listed === undefined)) return undefined
  if (listed) return await digestFile(path) === listed ? listed : undefined
  const table = await readFile(path).catch(() => Buffer.of())
  return await isTableWhole(table) ? hash('sha256', table) : undefined
}

/** Adds the tables that a compaction removed before they were checked, by their hard links. */
async function addRemovedTables (
  location: string,
  manifest: FileManifest,
  inventory: StoredManifest | undefined,
  isThorough: boolean
): Promise<void> {
  for (const name of linkedTables(location)) {
    const listed = inventory?.merged?.[name] ?? inventory?.files[name]
    if (listed === undefined || manifest.trusted.has(name) || manifest.verified.has(name) || !isTable(name)) continue
    if (!isThorough) manifest.merged.set(name, listed)
    else if (
      await digestIfIntact(linkTo(location, name), { identity: identityOf(linkTo(location, name)), listed, isClosed: false }) === undefined
    ) manifest.changed.push(name)
  }
}

/** Waits, at most `retries` times `ms` milliseconds, while the log ends within a record: a dying process might still be writing to it. */
export async function untilSettled (
  location: string,
  { clock, retries, ms }: { clock: Clock, retries: number, ms: number }
): Promise<void> {
  for (let retriesLeft = retries; retriesLeft > 0 && await isCut(location); retriesLeft--) await clock.sleep(ms)
}

/** Whether the log of a database that was not closed ends within a record. */
async function isCut (location: string): Promise<boolean> {
  for (const name of (await databaseFiles(location)).filter((name) => name.endsWith('.log'))) {
    if (!endsWhole(await readFile(join(location, name)).catch(() => Buffer.of(0)))) return true
  }
  return false
}
