import { type Stats, fstatSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { entryOf, holdFolder, holdSubfolder, KERNEL_FOLDERS, release, type HeldFolder } from './held-folder.ts'
import { ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, withRules, type IgnoreRules } from './ignore-rules.ts'
import { Beyond, type Row, type TreeRequest } from './tree-rpc.ts'

/** What is recorded of a folder. */
export interface Tree {
  /** When the folder was walked, milliseconds since the Unix epoch by the clock of the machine, which also gives the times of files. */
  at: number
  /** By path relative to the folder. */
  rows: Map<string, Row>
  /** Folders that are left out, relative to the folder. */
  left: Set<string>
  /** The keys of the files with contents. */
  contents: Record<string, string>
}

/** A folder in its present state. */
interface Walked extends Tree {
  /** The rows that cannot be taken from the last record: new ones, changed ones, and those that are not reliable. */
  fresh: Array<[path: string, row: Row]>
}

/** A folder during the walk. */
interface Place {
  /** Its path in the walked folder, and in the outermost folder with rules that apply; '' or with a slash at its end. */
  path: string
  fromTop: string
  /** The .gitignore rules that apply in the folder. */
  outer: IgnoreRules
  dev: number
  depth: number
  isInGit: boolean
}

/** Folders of packages: programs write them, and can write them again. */
const PACKAGES = new Set(['node_modules', '.venv', 'venv', '__pycache__'])
/** The deepest folder that is walked: all folders above the current one are held open, so their number is limited. */
const DEEPEST = 100

interface WalkOptions {
  /** The record of the folder, if there is one. */
  known?: Pick<Tree, 'rows' | 'left'>
  /** Returns whether an unchanged row of `known` is reliable. */
  isUsable?: (row: Row) => boolean
  /** Called with each path, the outer ones first, and with the open folder that contains it. */
  visit?: (path: string, row: Row, held: HeldFolder) => void
}

/**
 * Walks the folder. A path that has not changed keeps its row of `known`. Folders that `known` records, or leaves out, stay so even if
 * .gitignore has changed; without `parents` nothing is left out. Throws Beyond.
 */
export function walkTree (
  { folder, parents, excluded = [], limits }: Partial<Pick<TreeRequest, 'parents' | 'excluded'>> & {
    folder: string,
    limits: { paths: number }
  },
  { known, isUsable = () => true, visit }: WalkOptions = {}
): Walked {
  const tree: Walked = { at: systemClock.now(), rows: new Map(), left: new Set(), contents: {}, fresh: [] }
  const own = new Set(excluded)
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  try {
    const { dev } = fstatSync(root.descriptor)
    const fromTop = prefixOf(parents?.[0] ?? folder, folder)
    inside(root, { path: '', fromTop, outer: rulesAbove(parents ?? [], folder), dev, depth: 0, isInGit: false })
  } finally {
    release(root)
  }
  return tree

  function isLeftOut (path: string, ruled: string, { outer: rules, isInGit }: Pick<Place, 'outer' | 'isInGit'>): boolean {
    const name = basename(path)
    if (known?.left.has(path)) return true
    if (known?.rows.has(path)) return false
    // Rules of .gitignore do not apply to anything that belongs to git, such as a branch with an ignored name.
    return parents !== undefined && !isInGit && name !== '.git' && (PACKAGES.has(name) || isIgnored(rules, `${ruled}/`))
  }

  /** Returns whether the folder can be read. */
  function inside (held: HeldFolder, { path, fromTop, outer, dev, depth, isInGit }: Place): boolean {
    let names
    try {
      names = readdirSync(entryOf(held, '.'))
    } catch {
      return false
    }
    const isGitDirectory = ['HEAD', 'objects', 'refs'].every((name) => names.includes(name))
    const isOfGit = isInGit || isGitDirectory || path === '.git/' || path.endsWith('/.git/')
    const isRuled = !isOfGit && parents !== undefined
    const rules = isRuled ? withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, ignoreText(held, names)) : []
    const deeper = { outer: rules, dev, depth: depth + 1, isInGit: isOfGit }
    for (const name of names) {
      const inner = path + name
      if (tree.rows.size >= limits.paths) throw new Beyond('paths')
      // A name that is not UTF-8 cannot be stored.
      if (name.includes('\ufffd')) {
        tree.left.add(inner)
        continue
      }
      let stat
      try {
        stat = statOf(held, name)
      } catch {
        // The folder can be listed but not entered.
        return false
      }
      if (stat === undefined) continue
      const row = rowOf(stat)
      const isFolder = row.kind === 'folder'
      // A file of the service with one name is in the service's folder.
      if ((isFolder || stat.nlink > 1) && own.has(`${stat.dev}:${stat.ino}`)) continue
      if (isFolder && (isElsewhere(held, name, stat.dev !== dev || depth === DEEPEST) || isLeftOut(inner, fromTop + name, deeper))) {
        tree.left.add(inner)
        continue
      }
      if (row.kind === 'link') row.target = linkOf(entryOf(held, name))
      // A folder comes before its entries.
      if (isFolder) tree.rows.set(inner, row)
      visit?.(inner, row, held)
      if (isFolder && !enter(held, name, { ...deeper, path: `${inner}/`, fromTop: `${fromTop}${name}/` })) row.isClosed = true
      const before = known?.rows.get(inner)
      const isKnown = before !== undefined && isAsItWas(before, row) && before.isClosed === row.isClosed && isUsable(before)
      tree.rows.set(inner, isKnown ? before : row)
      if (!isKnown) tree.fresh.push([inner, row])
    }
    return true
  }

  function enter (held: HeldFolder, name: string, place: Place): boolean {
    const opened = holdSubfolder(held, name)
    if (opened === undefined) return false
    try {
      return inside(opened, place)
    } finally {
      release(opened)
    }
  }
}

const isElsewhere = (held: HeldFolder, name: string, isBeyond: boolean): boolean =>
  isBeyond || KERNEL_FOLDERS.includes(join(held.path, name))

const NO_ERROR = { throwIfNoEntry: false } as const

// By its path, which takes half the time; contents are read only through open folders.
const statOf = ({ path }: HeldFolder, name: string): Stats | undefined => lstatSync(path + sep + name, NO_ERROR)

function linkOf (path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function rowOf (stat: Stats): Row {
  const isFile = stat.isFile()
  const isFolder = !isFile && stat.isDirectory()
  return {
    kind: isFile ? 'file' : isFolder ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other',
    // Without setuid and setgid: these rights were granted to the content that was there.
    mode: stat.mode & 0o777,
    ino: stat.ino,
    modifiedAt: isFolder ? 0 : stat.mtimeMs,
    changedAt: isFolder ? 0 : stat.ctimeMs,
    size: isFolder ? 0 : stat.size,
    bornAt: stat.birthtimeMs
  }
}

/** Returns what is at a path now; undefined if nothing is found. */
export function rowAt (path: string): Row | undefined {
  try {
    const row = rowOf(lstatSync(path))
    return row.kind === 'link' ? { ...row, target: linkOf(path) } : row
  } catch {
    return undefined
  }
}

/**
 * Whether a path has not changed, according to the file system. The times of a folder are ignored, because they change with each entry, and
 * the entries are compared themselves. Links are compared by their targets.
 */
export function isAsItWas (a: Row | undefined, b: Row | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.kind === 'link' || a.kind !== b.kind) return a.kind === b.kind && a.target === b.target
  if (a.kind === 'folder') return a.mode === b.mode
  return a.mode === b.mode && a.ino === b.ino && a.size === b.size && a.modifiedAt === b.modifiedAt && a.changedAt === b.changedAt
}

/** Returns the paths at which a folder differs from its record: those that are gone before those that are new or changed. */
export function differingPaths ({ rows, fresh }: Walked, known: Pick<Tree, 'rows'>): string[] {
  if (fresh.length === 0 && rows.size === known.rows.size) return []
  const gone = [...known.rows.keys()].filter((path) => !rows.has(path))
  return [...gone, ...fresh.map(([path]) => path)]
}
