import {
  readdirSync,
  type Dirent,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import { KERNEL_FOLDERS, identityOf } from '../path-policy.ts'
import type { FilesRequest } from './search-rpc.ts'
import ignore, { type Ignore } from 'ignore'

/** A file or link that was found, or a folder, whose path ends with '/'. */
interface Found {
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

// The worker's counterpart of files/open-folder.ts. It works synchronously: for the many small files of a search that is several
// times faster, and the thread has nothing else to do.

/** A folder held open, so that its entries are its own even when a part of its path is replaced by a link meanwhile. */
interface HeldFolder {
  path: string
  descriptor: number
}

// Windows lacks these flags.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants
const DESCRIPTORS = '/proc/self/fd'
const HAS_DESCRIPTOR_PATHS = existsSync(DESCRIPTORS)

/** Opens the folder with the real path; undefined when that is no folder now, or leads elsewhere. */
function holdFolder (path: string, via: string = path): HeldFolder | undefined {
  try {
    const descriptor = openSync(via, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
    const now = !HAS_DESCRIPTOR_PATHS ? realpathSync(path) : via === path ? readlinkSync(`${DESCRIPTORS}/${descriptor}`) : path
    if (now === path) return { path, descriptor }
    closeSync(descriptor)
  } catch {
    // It disappeared or may not be read.
  }
  return undefined
}

const holdSubfolder = (folder: HeldFolder, name: string): HeldFolder | undefined =>
  HAS_DESCRIPTOR_PATHS ? holdFolder(join(folder.path, name), entryOf(folder, name)) : holdFolder(join(folder.path, name))

const release = ({ descriptor }: HeldFolder): void => closeSync(descriptor)

const identityOfHeld = ({ descriptor }: HeldFolder): string => identityOf(fstatSync(descriptor, { bigint: true }))

/** Returns the path of an entry; a link in its last place must not be followed. */
const entryOf = ({ path, descriptor }: HeldFolder, name: string): string =>
  HAS_DESCRIPTOR_PATHS ? `${DESCRIPTORS}/${descriptor}/${name}` : join(path, name)

/**
 * Reads a regular file of at most `mostBytes` bytes; undefined for anything else, and for a file that `isExcluded`.
 */
function readEntry (
  folder: HeldFolder,
  name: string,
  mostBytes: number,
  isExcluded: (identity: string) => boolean
): Buffer | undefined {
  let descriptor
  try {
    descriptor = openSync(entryOf(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    const stat = fstatSync(descriptor, { bigint: true })
    if (!stat.isFile() || stat.size > BigInt(mostBytes) || isExcluded(identityOf(stat))) return undefined
    const bytes = Buffer.allocUnsafe(Number(stat.size))
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, length)
    }
    return bytes.subarray(0, length)
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The rules of one .gitignore, and the path of its folder relative to the searched folder: '' or ending with '/'. */
interface Rules {
  base: string
  rules: Ignore
}

/** The rules that hold in a folder, the outermost first. */
type IgnoreRules = readonly Rules[]

/** Paths are compared as the file systems of the system do. */
const OPTIONS = { ignorecase: process.platform !== 'linux', allowRelativePaths: true }

/** Adds the .gitignore of a folder, whose path relative to the searched folder is `base`. */
const withRules = (outer: IgnoreRules, base: string, text: string | undefined): IgnoreRules =>
  text === undefined ? outer : [...outer, { base, rules: ignore(OPTIONS).add(text) }]

/** Returns whether a path below the folders of the rules is ignored; the path of a folder ends with '/'. The innermost rule decides. */
function isIgnored (all: IgnoreRules, path: string): boolean {
  for (const { base, rules } of all.toReversed()) {
    const { ignored, unignored } = rules.test(path.slice(base.length))
    if (ignored || unignored) return ignored
  }
  return false
}

/**
 * Returns the rules for the entries of a folder that is searched. A .gitignore that ignores this folder, which another one or the search
 * itself overrules, says nothing about its entries.
 */
const rulesInside = (all: IgnoreRules, folder: string): IgnoreRules =>
  all.filter(({ base, rules }) => !rules.test(folder.slice(base.length)).ignored)
