import { chmodSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf, isSameFile } from './file-digest.ts'

// A start trusts tables whose name, inode, size and time are listed, and has their content checked later. Until then
// each has a hard link in a folder of its own: a compaction may merge a damaged table into a new one and remove it, and
// the link keeps what it read. The folder lies in the database's own, so it is on the same file system and moves along.

const FOLDER = 'unchecked'

/** Where the link to a table lies. */
export const linkTo = (location: string, name: string): string => join(location, FOLDER, name)

/** The tables that have a link. */
export function linkedTables (location: string): string[] {
  try {
    return readdirSync(join(location, FOLDER))
  } catch {
    return []
  }
}

/**
 * Links tables before the database is opened. Links that are neither for those nor to be `kept` are removed. Returns
 * why that was not possible, if it was not: on some file systems there are no hard links, and tables without one are
 * checked where they lie.
 */
export function linkTables (location: string, names: Iterable<string>, kept: ReadonlySet<string>): Error | undefined {
  const existing = new Set(linkedTables(location))
  const wanted = new Set(names)
  try {
    for (const name of existing) if (!wanted.has(name) && !kept.has(name)) rmSync(linkTo(location, name), { recursive: true, force: true })
    if (wanted.size === 0) return undefined
    mkdirSync(join(location, FOLDER), { recursive: true, mode: 0o700 })
    chmodSync(join(location, FOLDER), 0o700)
    for (const name of wanted) {
      const [table, link] = [join(location, name), linkTo(location, name)]
      if (existing.has(name)) {
        if (isSameFile(identityOf(table), identityOf(link))) continue
        rmSync(link, { recursive: true, force: true })
      }
      linkSync(table, link)
    }
  } catch (error) {
    return error as Error
  }
  return undefined
}

/** Windows does not remove a link while the file is open elsewhere: the next start does. */
export function unlinkTable (location: string, name: string): void {
  try {
    rmSync(linkTo(location, name), { force: true })
  } catch {}
}
