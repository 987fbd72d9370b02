import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digestFile, identityOf, isSameFile, type Identity } from './file-digest.ts'
import { databaseFiles, entryOf, isTable, readManifest, type StoredManifest, type TableEntry } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { endsWhole, liveTables, isTableWhole } from './leveldb-files.ts'
import { linkedTables, linkTo } from './unchecked-tables.ts'

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
  // LevelDB removes unused tables, and may use their numbers again: they are compared, but not known.
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

/** Whether the log of a database that was not closed ends within a record. */
export async function isCut (location: string): Promise<boolean> {
  for (const name of (await databaseFiles(location)).filter((name) => name.endsWith('.log'))) {
    if (!endsWhole(await readFile(join(location, name)).catch(() => Buffer.of(0)))) return true
  }
  return false
}
