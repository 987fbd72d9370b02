import { lstatSync, readdirSync, type Dirent, type Stats } from 'node:fs'
import { join } from 'node:path'
import { foldCase } from '../../lib/windows-path.ts'
import { KERNEL_FOLDERS } from '../path-policy.ts'
import { entryOf, holdFolder, holdSubfolder, identityOfHeld, readEntry, release, type HeldFolder } from './held-folder.ts'
import { ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, withRules, type IgnoreRules } from './ignore-rules.ts'
import type { FilesRequest } from './search-rpc.ts'

/** A file or link that was found, or a folder, whose path ends with '/'. */
interface Found {
  /** Relative to the searched folder, with '/'. */
  path: string
  kind: 'file' | 'link' | 'folder'
  /** Returns the bytes of a file; undefined when it is larger than `mostBytes`, or cannot or may not be read. */
  read(mostBytes: number): Buffer | undefined
  /** Returns what the file system says of it; undefined when it is gone. */
  stat(): Stats | undefined
}

/** The folders of version control systems. */
const REPOSITORIES = new Set(['.git', '.hg', '.svn', '.jj'])
/** Folders are held open down to the current one, so their number is bounded. */
const DEEPEST = 100

/**
 * Finds all that is below a folder and not ignored, sorted by name in each folder. Links are found and not followed. Throws when the
 * folder cannot be opened. `closed` is called with each folder below that cannot be read, and with '' for the folder itself.
 */
export function * walk (
  { folder, file, parents, excluded }: Omit<FilesRequest, 'glob' | 'offset' | 'limit'>,
  closed: (path: string) => void = () => {}
): Generator<Found> {
  const own = new Set(excluded)
  const isExcluded = (identity: string) => own.has(identity)
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  try {
    if (file !== undefined) return yield found(root, file, 'file', file)
    yield * entries(root, '', prefixOf(parents[0] ?? folder, folder), rulesAbove(parents, folder), 0)
  } finally {
    release(root)
  }

  function * entries (held: HeldFolder, path: string, fromTop: string, outer: IgnoreRules, depth: number): Generator<Found> {
    const rules = withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, ignoreText(held))
    const listed = sortedEntries(held)
    if (listed === undefined) closed(path)
    for (const entry of listed ?? []) {
      const { name } = entry
      if (REPOSITORIES.has(foldCase(name))) continue
      const isFolder = entry.isDirectory()
      if (isIgnored(rules, `${fromTop}${name}${isFolder ? '/' : ''}`)) continue
      if (!isFolder) {
        const kind = entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : undefined
        if (kind !== undefined) yield found(held, name, kind, path + name)
        continue
      }
      if (depth === DEEPEST || KERNEL_FOLDERS.includes(join(held.path, name))) continue
      const inner = holdSubfolder(held, name)
      if (inner === undefined) {
        closed(`${path}${name}/`)
        continue
      }
      try {
        if (isExcluded(identityOfHeld(inner))) continue
        yield { path: `${path}${name}/`, kind: 'folder', read: () => undefined, stat: () => undefined }
        yield * entries(inner, `${path}${name}/`, `${fromTop}${name}/`, rules, depth + 1)
      } finally {
        release(inner)
      }
    }
  }

  function found (held: HeldFolder, name: string, kind: Found['kind'], path: string): Found {
    return {
      path,
      kind,
      read: (mostBytes) => kind === 'file' ? readEntry(held, name, mostBytes, isExcluded) : undefined,
      stat: () => lstatSync(entryOf(held, name), { throwIfNoEntry: false })
    }
  }
}

/** The entries of a folder; undefined when it may not be listed. */
function sortedEntries (folder: HeldFolder): Dirent[] | undefined {
  try {
    return readdirSync(entryOf(folder, '.'), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
  } catch {
    return undefined
  }
}
