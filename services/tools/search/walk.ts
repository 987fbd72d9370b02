import { readdirSync, type Dirent } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { KERNEL_FOLDERS } from '../path-policy.ts'
import { entryOf, holdFolder, holdSubfolder, identityOfHeld, readEntry, release, type HeldFolder } from './held-folder.ts'
import { isIgnored, rulesInside, withRules, type IgnoreRules } from './ignore-rules.ts'
import type { FilesRequest } from './search-rpc.ts'

/** A file or link that was found, or a folder, whose path ends with '/'. */
export interface Found {
  /** Relative to the searched folder, with '/'. */
  path: string
  kind: 'file' | 'link' | 'folder'
  /** Returns the bytes of a file; undefined when it is larger than `mostBytes`, or cannot or may not be read. */
  read(mostBytes: number): Buffer | undefined
}

/** The folders of version control systems. */
const REPOSITORIES = new Set(['.git', '.hg', '.svn', '.jj'])
/** Folders are held open down to the current one, so their number is bounded. */
const DEEPEST = 100
const IGNORE_BYTES = 1024 * 1024

/**
 * Finds all that is below a folder and not ignored, sorted by name in each folder. Links are found and not followed. Throws when the
 * folder cannot be opened.
 */
export function * walk ({ folder, file, parents, excluded }: Omit<FilesRequest, 'glob' | 'offset' | 'limit'>): Generator<Found> {
  const own = new Set(excluded)
  const isExcluded = (identity: string) => own.has(identity)
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  try {
    if (file !== undefined) return yield found(root, file, 'file', file)
    // Paths of the rules begin at the outermost folder with a .gitignore.
    const top = parents[0] ?? folder
    let rules: IgnoreRules = []
    for (const parent of parents) {
      const base = prefixOf(top, parent)
      rules = base === '' ? rules : rulesInside(rules, base)
      const held = holdFolder(parent)
      if (held === undefined) continue
      rules = withRules(rules, base, ignoreText(held))
      release(held)
    }
    yield * entries(root, '', prefixOf(top, folder), rules, 0)
  } finally {
    release(root)
  }

  function * entries (held: HeldFolder, path: string, fromTop: string, outer: IgnoreRules, depth: number): Generator<Found> {
    const rules = withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, ignoreText(held))
    for (const entry of sortedEntries(held)) {
      const { name } = entry
      if (REPOSITORIES.has(name)) continue
      const isFolder = entry.isDirectory()
      if (isIgnored(rules, `${fromTop}${name}${isFolder ? '/' : ''}`)) continue
      if (!isFolder) {
        const kind = entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : undefined
        if (kind !== undefined) yield found(held, name, kind, path + name)
        continue
      }
      if (depth === DEEPEST || KERNEL_FOLDERS.includes(join(held.path, name))) continue
      const inner = holdSubfolder(held, name)
      if (inner === undefined) continue
      try {
        if (isExcluded(identityOfHeld(inner))) continue
        yield { path: `${path}${name}/`, kind: 'folder', read: () => undefined }
        yield * entries(inner, `${path}${name}/`, `${fromTop}${name}/`, rules, depth + 1)
      } finally {
        release(inner)
      }
    }
  }

  function found (held: HeldFolder, name: string, kind: Found['kind'], path: string): Found {
    return { path, kind, read: (mostBytes) => kind === 'file' ? readEntry(held, name, mostBytes, isExcluded) : undefined }
  }
}

/** Returns the path of a folder relative to an outer one: '' or ending with '/'. */
const prefixOf = (outer: string, inner: string): string => outer === inner ? '' : `${relative(outer, inner).replaceAll(sep, '/')}/`

const ignoreText = (folder: HeldFolder): string | undefined => readEntry(folder, '.gitignore', IGNORE_BYTES, () => false)?.toString()

function sortedEntries (folder: HeldFolder): Dirent[] {
  try {
    return readdirSync(entryOf(folder, '.'), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
  } catch {
    // The folder may not be listed.
    return []
  }
}
