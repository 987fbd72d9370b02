import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digestFile, identityOf } from '../database-files.ts'
import { databaseFiles, isTable, writeClosed, writeOpen, type FileManifest, type StoredManifest, type TableEntry } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { liveTables, isTableWhole } from './leveldb-files.ts'
import { linkedTables, linkTo, unlinkTable } from './unchecked-tables.ts'

export type TableList = ReturnType<typeof createTableList>

/** Read errors that are transient and say nothing about the content on the disk. */
const TRANSIENT_ERRORS = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR', 'EBUSY']

/**
 * Tracks the tables of an open database and writes its file manifest. `manifest` is the state that was verified before the
 * database was opened.
 */
export function createTableList ({ location, keys, session, manifest }: {
  location: string,
  keys: Keys,
  session: number,
  manifest: Pick<FileManifest, 'verified' | 'trusted' | 'merged'>
}) {
  const known = new Map<string, TableEntry>([...manifest.trusted])
  for (const [name, entry] of manifest.verified) known.set(name, { ...entry, checked: session })
  const merged = new Map(manifest.merged)
  const damaged: string[] = []
  /**
   * Tables to check, in order: first removed tables of which only links exist, because the links take up disk space; then the others,
   * beginning with those whose last check is the oldest.
   */
  const longestUncheckedFirst = [...manifest.trusted].sort(([, a], [, b]) => a.checked - b.checked)
  const due = new Set([...merged.keys(), ...longestUncheckedFirst.map(([name]) => name)])

  /** Builds a manifest with these tables and other files. Also lists the links to tables that a compaction has removed meanwhile. */
  function buildInventory (present: ReadonlySet<string>, others: StoredManifest['files'] = {}): StoredManifest {
    const inventory: Required<Omit<StoredManifest, 'damaged'>> = { session, files: { ...others }, tables: {}, merged: {} }
    for (const name of present) {
      const { ino, size, mtimeMs, checked, digest = '' } = known.get(name)!
      inventory.files[name] = digest
      inventory.tables[name] = [ino, size, mtimeMs, checked]
    }
    const links = due.size > 0 ? linkedTables(location) : []
    for (const name of links) {
      if (due.has(name) && !present.has(name)) inventory.merged[name] = merged.get(name) ?? known.get(name)?.digest ?? ''
    }
    return inventory
  }

  const presentTables = async () => (await databaseFiles(location)).filter(isTable)
  const writeKnown = async () => {
    const present = new Set((await presentTables()).filter((name) => known.has(name)))
    await writeOpen(location, keys, { ...buildInventory(present), ...(damaged.length > 0 && { damaged }) })
  }

  /** Whether a file matches the listed digest or, without one, has valid checksums. */
  async function isWhole (name: string, path: string, signal: AbortSignal): Promise<boolean> {
    const digest = merged.get(name) ?? known.get(name)?.digest
    if (digest) return await digestFile(path, signal) === digest
    const table = await readFile(path, { signal })
    if (!await isTableWhole(table)) return false
    const entry = known.get(name)
    if (entry) entry.digest = hash('sha256', table)
    return true
  }

  return {
    /** Returns the names of the tables to check, in order. */
    due: (): string[] => [...due],

    /**
     * Checks a table, through its hard link when there is one. Resolves to the number of bytes read and whether the table is
     * damaged. A removed table without a link cannot be checked and counts as undamaged. Rejects when the signal aborts or on
     * a transient read error.
     */
    async check (name: string, signal: AbortSignal): Promise<{ bytes: number, isDamaged: boolean }> {
      let bytes = 0
      for (const path of [linkTo(location, name), join(location, name)]) {
        const identity = identityOf(path)
        if (identity === undefined) continue
        bytes = identity.size
        try {
          if (!await isWhole(name, path, signal)) return { bytes, isDamaged: true }
          const entry = known.get(name)
          if (entry) entry.checked = session
          break
        } catch (error) {
          const { code = '' } = error as NodeJS.ErrnoException
          if (signal.aborted || TRANSIENT_ERRORS.includes(code)) throw error
          if (code !== 'ENOENT') return { bytes, isDamaged: true }
        }
      }
      due.delete(name)
      merged.delete(name)
      unlinkTable(location, name)
      return { bytes, isDamaged: false }
    },

    /** Writes the manifest at the start of the session. */
    begin: writeKnown,

    /**
     * Adds tables that were written since to the manifest, so that a start after a crash need not read them. Resolves when it
     * is on disk. A new table with invalid checksums becomes due for a check.
     */
    async note (signal: AbortSignal): Promise<void> {
      const live = await liveTables(location)
      const present = new Set((await presentTables()).filter((name) => live.has(parseInt(name))))
      for (const name of present) {
        const identity = identityOf(join(location, name))
        if (known.has(name) || identity === undefined) continue
        known.set(name, { ...identity, digest: await digestOf(join(location, name), signal), checked: session })
        if (!known.get(name)!.digest) due.add(name)
      }
      for (const name of [...known.keys()]) if (!present.has(name) && !due.has(name)) known.delete(name)
      await writeKnown()
    },

    /** Records a table as damaged, so that the next start repairs the database. */
    async markDamaged (name: string): Promise<void> {
      damaged.push(name)
      await writeKnown()
    },

    /**
     * Writes the manifest of all files. Call it when the database is closed. Once `isLate` returns true, further tables are
     * listed without a digest; after the next start they are verified by their checksums.
     */
    async seal (isLate: () => boolean = () => false): Promise<void> {
      const others: StoredManifest['files'] = {}
      const present = new Set<string>()
      const live = await liveTables(location)
      for (const name of await databaseFiles(location)) {
        const path = join(location, name)
        const identity = identityOf(path)
        if (identity === undefined) continue
        if (!isTable(name)) others[name] = await digestFile(path)
        else if (!live.has(parseInt(name))) others[name] = '' // left by an interrupted compaction
        else {
          present.add(name)
          // Tables never change, so a known entry stays valid. The next start detects a table that did change.
          if (known.has(name)) continue
          known.set(name, { ...identity, ...(isLate() ? { checked: 0 } : { digest: await digestOf(path), checked: session }) })
        }
      }
      await writeClosed(location, keys, buildInventory(present, others))
    }
  }
}

/** Returns the digest of a table that LevelDB has just written; undefined when its checksums are invalid or the table is gone. */
async function digestOf (path: string, signal?: AbortSignal): Promise<string | undefined> {
  const table = await readFile(path, { signal }).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  return table !== undefined && await isTableWhole(table) ? hash('sha256', table) : undefined
}
