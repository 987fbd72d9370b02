import { type Stats, fstatSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { entryOf, holdFolder, holdSubfolder, KERNEL_FOLDERS, release, type HeldFolder } from './held-folder.ts'
import { ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, withRules, type IgnoreRules } from './ignore-rules.ts'
import { Beyond, type Row, type TreeRequest } from './tree-rpc.ts'

/** What is known of a folder. */
export interface Tree {
  /** When it was walked, milliseconds since the Unix epoch by the clock of the machine, which the times of files are from. */
  at: number
  /** By path relative to the folder. */
  rows: Map<string, Row>
  /** Folders that are left out, relative to the folder. */
  left: Set<string>
  /** The keys of the files that hold contents. */
  contents: Record<string, string>
}

/** A folder as it is now. */
interface Walked extends Tree {
  /** The rows that are not those of the last record: new, changed, or not to be relied upon. */
  fresh: Array<[path: string, row: Row]>
}

/** A folder on the walk. */
interface Place {
  /** Its path in the walked folder, and in the outermost one whose rules hold; '' or with a slash at its end. */
  path: string
  fromTop: string
  /** The rules that hold in it. */
  outer: IgnoreRules
  dev: number
  depth: number
  isInGit: boolean
}

/** Folders of packages, which others than their user write and can write again. */
const PACKAGES = new Set(['node_modules', '.venv', 'venv', '__pycache__'])
/** Folders are held open down to the current one, so their number is bounded. */
const DEEPEST = 100

interface WalkOptions {
  /** What is known of the folder. */
  known?: Tree
  /** Whether a row of `known` that is as it was can be relied upon. */
  isUsable?: (row: Row) => boolean
  /** Called with each path, the outer ones first, and with the open folder that holds it. */
  visit?: (path: string, row: Row, held: HeldFolder) => void
}

/**
 * Walks the folder. What is as it was keeps its row of `known`. Whether a folder is left out is as it was when it was recorded, whatever
 * .gitignore says by now; without `parents` nothing is left out. Throws Beyond.
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
    // Nothing that belongs to git is ignored by its rules, such as a branch of that name.
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
    const rules = isRuled ? withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, ignoreText(held)) : []
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
        // It can be listed and not entered.
        return false
      }
      if (stat === undefined || (own.size > 0 && own.has(`${stat.dev}:${stat.ino}`))) continue
      const kind = kindOf(stat)
      const isFolder = kind === 'folder'
      if (isFolder && (isElsewhere(held, name, stat.dev !== dev || depth === DEEPEST) || isLeftOut(inner, fromTop + name, deeper))) {
        tree.left.add(inner)
        continue
      }
      const before = known?.rows.get(inner)
      const isKnown = before !== undefined && isUnchanged(before, kind, stat) && isUsable(before)
      const row = isKnown ? before : rowOf(kind, stat)
      tree.rows.set(inner, row)
      if (!isKnown) tree.fresh.push([inner, row])
      if (kind === 'link' && !isKnown) row.target = linkOf(entryOf(held, name))
      visit?.(inner, row, held)
      if (!isFolder) continue
      const opened = holdSubfolder(held, name)
      try {
        const isClosed = opened === undefined || !inside(opened, { ...deeper, path: `${inner}/`, fromTop: `${fromTop}${name}/` })
        if (isClosed !== (row.isClosed === true)) close(inner, row, isKnown, isClosed)
      } finally {
        if (opened !== undefined) release(opened)
      }
    }
    return true
  }

  function close (path: string, row: Row, isKnown: boolean, isClosed: boolean): void {
    const { isClosed: _, ...rest } = row
    const changed: Row = { ...rest, ...(isClosed && { isClosed }) }
    if (!isKnown) Object.assign(row, changed)
    else {
      // Rows of the record stay as they are.
      tree.rows.set(path, changed)
      tree.fresh.push([path, changed])
    }
  }
}

const isElsewhere = (held: HeldFolder, name: string, isBeyond: boolean): boolean =>
  isBeyond || KERNEL_FOLDERS.includes(join(held.path, name))

const NO_ERROR = { throwIfNoEntry: false } as const

// By its path, which takes half the time: contents are read through open folders only.
const statOf = ({ path }: HeldFolder, name: string): Stats | undefined => lstatSync(path + sep + name, NO_ERROR)

function linkOf (path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

const kindOf = (stat: Stats): Row['kind'] =>
  stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other'
// Without setuid and setgid: these rights were granted to the content that was there.
const modeOf = (stat: Stats): number => stat.mode & 0o777

/** A folder changes with each entry: its entries are compared themselves. */
const isUnchanged = (row: Row, kind: Row['kind'], stat: Stats): boolean =>
  row.kind === kind && row.ino === stat.ino && row.dev === stat.dev && row.mode === modeOf(stat) &&
  (kind === 'folder' || (row.changedAt === stat.ctimeMs && row.modifiedAt === stat.mtimeMs && row.size === stat.size))

function rowOf (kind: Row['kind'], stat: Stats): Row {
  const isFolder = kind === 'folder'
  return {
    kind,
    mode: modeOf(stat),
    dev: stat.dev,
    ino: stat.ino,
    modifiedAt: isFolder ? 0 : stat.mtimeMs,
    changedAt: isFolder ? 0 : stat.ctimeMs,
    size: isFolder ? 0 : stat.size,
    bornAt: stat.birthtimeMs
  }
}

/** Returns what is at a path now; undefined where nothing is found. */
export function rowAt (path: string): Row | undefined {
  try {
    const stat = lstatSync(path)
    const kind = kindOf(stat)
    return { ...rowOf(kind, stat), ...kind === 'link' && { target: linkOf(path) } }
  } catch {
    return undefined
  }
}

/** Whether a path is as it was, by what the file system says of it: of a folder its permissions, of a link its target. */
export function isAsItWas (a: Row | undefined, b: Row | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.kind === 'link' || a.kind !== b.kind) return a.kind === b.kind && a.target === b.target
  if (a.kind === 'folder') return a.mode === b.mode
  return a.mode === b.mode && a.ino === b.ino && a.size === b.size && a.modifiedAt === b.modifiedAt && a.changedAt === b.changedAt
}
