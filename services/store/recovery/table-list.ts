import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digestFile, identityOf } from './file-digest.ts'
import { databaseFiles, isTable, writeClosed, writeOpen, type Inventory, type TableEntry } from './file-manifest.ts'
import type { Keys } from '../encryption-keys.ts'
import { liveTables } from './leveldb-manifest.ts'
import type { FileManifest } from './known-files.ts'
import { isTableWhole } from './table-format.ts'
import { linkedTables, linkTo, unlinkTable } from './unchecked-tables.ts'

export type TableList = ReturnType<typeof createTableList>

/** Errors of a read that say nothing of what lies on the disk. */
const PASSING = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR', 'EBUSY']

/**
 * What is known of the tables of an open database, and the list of it on disk. `stock` is what was found when it was opened.
 */
export function createTableList ({ location, keys, session, stock }: {
  location: string,
  keys: Keys,
  session: number,
  stock: Pick<FileManifest, 'verified' | 'trusted' | 'merged'>
}) {
  const known = new Map<string, TableEntry>([...stock.trusted])
  for (const [name, entry] of stock.verified) known.set(name, { ...entry, checked: session })
  const merged = new Map(stock.merged)
  const damaged: string[] = []
  /** To be checked: first those whose links alone are left, since they take room; then those that were not checked for longest. */
  const due = new Set([...merged.keys(), ...[...stock.trusted].sort(([, a], [, b]) => a.checked - b.checked).map(([name]) => name)])

  /** The list with these tables and other files. Links to tables that a compaction has taken away in the meantime are kept in mind. */
  function listed (present: ReadonlySet<string>, others: Inventory['files'] = {}): Inventory {
    const inventory: Required<Omit<Inventory, 'damaged'>> = { session, files: { ...others }, tables: {}, merged: {} }
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
    await writeOpen(location, keys, { ...listed(present), ...(damaged.length > 0 && { damaged }) })
  }

  /** Whether the bytes are those of the table when it was listed; without a digest, whether their checksums hold. */
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
    /** Names of the tables whose content is still to be checked, in that order. */
    due: (): string[] => [...due],

    /**
     * Reads a table, by its link where there is one. Resolves to how many bytes that were, and whether they are as they should be;
     * one that is gone without a link cannot be told any more. Rejects when the signal aborts or the system has no means to read.
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
          if (signal.aborted || PASSING.includes(code)) throw error
          if (code !== 'ENOENT') return { bytes, isDamaged: true }
        }
      }
      due.delete(name)
      merged.delete(name)
      unlinkTable(location, name)
      return { bytes, isDamaged: false }
    },

    /** Writes the list down as the session begins. */
    begin: writeKnown,

    /**
     * Takes up tables that were written since, so that a start after a crash need not read them; on disk when it resolves.
     * One whose checksums do not hold is due to be checked.
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

    /** Sees to it that the next start repairs the database: this table was found damaged. */
    async markDamaged (name: string): Promise<void> {
      damaged.push(name)
      await writeKnown()
    },

    /**
     * To be called when the database is closed: lists all its files. Once `isLate`, further tables are listed without a
     * digest, and checked by their checksums after the next start.
     */
    async seal (isLate: () => boolean = () => false): Promise<void> {
      const others: Inventory['files'] = {}
      const present = new Set<string>()
      const live = await liveTables(location)
      for (const name of await databaseFiles(location)) {
        const path = join(location, name)
        const identity = identityOf(path)
        if (identity === undefined) continue
        if (!isTable(name)) others[name] = await digestFile(path)
        else if (!live.has(parseInt(name))) others[name] = '' // left by a compaction that was cut short
        else {
          present.add(name)
          // A table never changes: one that did is found by the next start.
          if (known.has(name)) continue
          known.set(name, { ...identity, ...(isLate() ? { checked: 0 } : { digest: await digestOf(path), checked: session }) })
        }
      }
      await writeClosed(location, keys, listed(present, others))
    }
  }
}

/** The digest of a table that LevelDB has just written; undefined when its checksums do not hold, or it is gone. */
async function digestOf (path: string, signal?: AbortSignal): Promise<string | undefined> {
  const table = await readFile(path, { signal }).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  return table !== undefined && await isTableWhole(table) ? hash('sha256', table) : undefined
}
