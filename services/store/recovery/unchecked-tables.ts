import { chmodSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf, isSameFile } from '../database-files.ts'

// A start trusts tables whose name, inode, size and time are listed, and has their content checked later. Until then each has a
// hard link in a separate folder: a compaction can merge a damaged table into a new one and remove it, and the link keeps the
// original content for the check. The folder is inside the database's folder, so it is on the same file system and is moved with
// it.

const FOLDER = 'unchecked'

/** Returns the path of the link to a table. */
export const linkTo = (location: string, name: string): string => join(location, FOLDER, name)

/** Lists the tables that have a link; none if the folder of links cannot be read. */
export function linkedTables (location: string): string[] {
  try {
    return readdirSync(join(location, FOLDER))
  } catch {
    return []
  }
}

/**
 * Links tables before the database is opened. Removes links that are neither for these tables nor in `kept`. Returns the error
 * when linking fails, for example on a file system without hard links; tables without a link are checked in place.
 */
export function linkTables (location: string, names: Iterable<string>, kept: ReadonlySet<string>): Error | undefined {
  const existing = new Set(linkedTables(location))
  const targets = new Set(names)
  try {
    for (const name of existing) if (!targets.has(name) && !kept.has(name)) rmSync(linkTo(location, name), { recursive: true, force: true })
    if (targets.size === 0) return undefined
    mkdirSync(join(location, FOLDER), { recursive: true, mode: 0o700 })
    chmodSync(join(location, FOLDER), 0o700)
    for (const name of targets) {
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

/** Removes the link to a table. A failure is ignored: Windows keeps a link whose file is open, and the next start removes it. */
export function unlinkTable (location: string, name: string): void {
  try {
    rmSync(linkTo(location, name), { force: true })
  } catch {}
}
