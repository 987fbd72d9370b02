import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digestFile, identityOf, isSameFile, type Identity } from './file-digest.ts'
import { databaseFiles, entryOf, isTable, readInventory, type Inventory, type TableEntry } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { endsWhole } from './log-format.ts'
import { liveTables } from './leveldb-manifest.ts'
import { isTableWhole } from './table-format.ts'
import { linkedTables, linkTo } from './unchecked-tables.ts'

/** What is known of a database that is about to be opened. */
export interface FileManifest {
  /** The session that was counted last; undefined when there is no list that can be read. */
  session?: number
  /** Files that are not as the database was closed with, or there no more; of one not closed, its broken tables. */
  changed: string[]
  /** It was not closed, and its log ends within a record: as after a power cut, or after somebody cut it. */
  isCut: boolean
  /** Tables that were read and are whole. */
  verified: Map<string, TableEntry>
  /** Tables that are those of the list by inode, size and time: their content is still to be checked. */
  trusted: Map<string, TableEntry>
  /** Digests, '' for none, of tables that are no longer in the database, but were not checked while they were. */
  merged: Map<string, string>
  /** Whether the list was made with the key of the data. */
  isAuthentic(keys: Keys): boolean
}

/** Nothing is known of any table. */
export const noStock = (): Pick<FileManifest, 'verified' | 'trusted' | 'merged'> => ({
  verified: new Map(),
  trusted: new Map(),
  merged: new Map()
})

/**
 * Compares the files of a database with the list that was made when it was closed. Tables that look like those of the
 * list are not read, unless it `isThorough`: so this takes as long for much data as for little. All else is read.
 */
export async function verifyFiles (location: string, { isThorough = false } = {}): Promise<FileManifest> {
  const { inventory, isClosed, isAuthentic } = await readInventory(location)
  const stock: FileManifest = {
    session: inventory?.session,
    changed: [...inventory?.damaged ?? []],
    isCut: false,
    isAuthentic,
    ...noStock()
  }
  const live = await liveTables(location)
  const isLive = (name: string) => isTable(name) && live.has(parseInt(name))
  const names = await databaseFiles(location)
  // LevelDB removes tables that it does not use, and may use their numbers again: they are compared, but not known.
  for (const name of isClosed ? new Set([...names, ...Object.keys(inventory!.files)]) : names.filter(isLive)) {
    const path = join(location, name)
    const identity = identityOf(path)
    const entry = inventory && entryOf(inventory, name)
    if (!isThorough && isLive(name) && isSameFile(entry, identity)) {
      stock.trusted.set(name, entry!)
      continue
    }
    if (isTable(name) && !isLive(name) && inventory?.files[name] === '') continue
    const digest = await wholeDigest(path, { identity, listed: inventory?.files[name], isClosed })
    if (digest === undefined) stock.changed.push(name)
    else if (isLive(name)) stock.verified.set(name, { ...identity!, digest, checked: 0 })
  }
  if (!isClosed) stock.isCut = await isCut(location)
  await takeLeftovers(location, stock, inventory, isThorough)
  return stock
}

/**
 * Reads a file. Returns its digest if it is the listed one; without one that is listed, if it is a table with the checksums
 * that LevelDB wrote. A table that is gone, and not of a closed database, LevelDB misses itself.
 */
async function wholeDigest (
  path: string,
  { identity, listed, isClosed }: { identity?: Identity, listed?: string, isClosed: boolean }
): Promise<string | undefined> {
  if (identity === undefined || (isClosed && listed === undefined)) return undefined
  if (listed) return await digestFile(path) === listed ? listed : undefined
  const table = await readFile(path).catch(() => Buffer.of())
  return await isTableWhole(table) ? hash('sha256', table) : undefined
}

/** What is left of tables that a compaction has removed before they were checked. */
async function takeLeftovers (location: string, stock: FileManifest, inventory: Inventory | undefined, isThorough: boolean): Promise<void> {
  for (const name of linkedTables(location)) {
    const listed = inventory?.merged?.[name] ?? inventory?.files[name]
    if (listed === undefined || stock.trusted.has(name) || stock.verified.has(name) || !isTable(name)) continue
    if (!isThorough) stock.merged.set(name, listed)
    else if (
      await wholeDigest(linkTo(location, name), { identity: identityOf(linkTo(location, name)), listed, isClosed: false }) === undefined
    ) stock.changed.push(name)
  }
}

/** Whether the log of a database that was not closed ends within a record. */
export async function isCut (location: string): Promise<boolean> {
  for (const name of (await databaseFiles(location)).filter((name) => name.endsWith('.log'))) {
    if (!endsWhole(await readFile(join(location, name)).catch(() => Buffer.of(0)))) return true
  }
  return false
}
