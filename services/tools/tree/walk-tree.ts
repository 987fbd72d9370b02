import { type Stats, fstatSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join, sep } from 'node:path'
import { systemClock } from '../../lib/clock.ts'
import { KERNEL_FOLDERS } from '../path-policy.ts'
import { entryOf, holdFolder, holdSubfolder, release, type HeldFolder } from '../search/held-folder.ts'
import { ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, withRules, type IgnoreRules } from '../search/ignore-rules.ts'
import type { TreeRequest } from './tree-rpc.ts'

/** One path of a record. What the file system says of it, and for a file the digest and the place of its content. */
export interface Row {
  kind: 'file' | 'folder' | 'link' | 'other'
  mode: number
  /** Size, inode, and the times of the last change of content and state: nobody can set the last. */
  stat: string
  /** Milliseconds since the Unix epoch of the last change of state. */
  changedAt: number
  ino: string
  /** When it was made, milliseconds since the Unix epoch; 0 where that is not known. */
  bornAt: number
  size: number
  /** Of a link. */
  target?: string
  digest?: string
  copy?: { file: string, at: number, chunk: number }
  notKept?: 'too_large' | 'gone'
  /** Of a folder that could not be listed. */
  isClosed?: true
}

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

/** Folders of packages, which others than their user write and can write again. */
const PACKAGES = new Set(['node_modules', '.venv', 'venv', '__pycache__'])
/** Folders are held open down to the current one, so their number is bounded. */
const DEEPEST = 100

/** A tree has more than may be known of it. */
export class Beyond extends Error {
  readonly limit: 'paths' | 'bytes'
  constructor (limit: 'paths' | 'bytes') {
    super(`too many ${limit}`)
    this.limit = limit
  }
}

/** Walks the folder. Whether a folder is left out is as it was when it was recorded, whatever .gitignore says by now. Throws Beyond. */
export function walkTree ({ folder, parents, excluded, limits }: TreeRequest, known: Tree | undefined): Tree {
  const tree: Tree = { at: systemClock.now(), rows: new Map(), left: new Set(), contents: {} }
  const own = new Set(excluded)
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  try {
    const { dev } = fstatSync(root.descriptor)
    inside(root, '', prefixOf(parents[0] ?? folder, folder), rulesAbove(parents, folder), dev, 0)
  } finally {
    release(root)
  }
  return tree

  function isLeftOut (path: string, name: string, ruled: string, rules: IgnoreRules): boolean {
    if (known?.left.has(path)) return true
    if (known?.rows.has(path)) return false
    return name !== '.git' && (PACKAGES.has(name) || isIgnored(rules, `${ruled}/`))
  }

  function inside (held: HeldFolder, path: string, fromTop: string, outer: IgnoreRules, dev: number, depth: number): boolean {
    let entries
    try {
      entries = readdirSync(entryOf(held, '.'), { withFileTypes: true })
    } catch {
      return false
    }
    // Nothing that belongs to git is ignored by its rules.
    const isOfGit = path === '.git/' || path.endsWith('/.git/') || path.startsWith('.git/') || path.includes('/.git/')
    const rules = isOfGit ? [] : withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, ignoreText(held))
    for (const entry of entries) {
      const { name } = entry
      const inner = path + name
      if (tree.rows.size >= limits.paths) throw new Beyond('paths')
      // A name that is not UTF-8 cannot be stored.
      if (name.includes('\ufffd')) {
        tree.left.add(inner)
        continue
      }
      if (entry.isDirectory() && isLeftOut(inner, name, fromTop + name, rules)) {
        tree.left.add(inner)
        continue
      }
      const stat = statOf(held, name)
      if (stat === undefined || own.has(`${stat.dev}:${stat.ino}`)) continue
      const row = rowOf(stat)
      tree.rows.set(inner, row)
      if (row.kind === 'link') row.target = linkOf(held, name)
      if (row.kind !== 'folder') continue
      if (stat.dev !== dev || depth === DEEPEST || KERNEL_FOLDERS.includes(join(held.path, name))) {
        tree.rows.delete(inner)
        tree.left.add(inner)
        continue
      }
      const opened = holdSubfolder(held, name)
      try {
        if (opened === undefined || !inside(opened, `${inner}/`, `${fromTop}${name}/`, rules, dev, depth + 1)) row.isClosed = true
      } finally {
        if (opened !== undefined) release(opened)
      }
    }
    return true
  }
}

const NO_ERROR = { throwIfNoEntry: false } as const

// By its path, which takes half the time: contents are read through open folders only.
const statOf = ({ path }: HeldFolder, name: string): Stats | undefined => lstatSync(path + sep + name, NO_ERROR)

function linkOf (held: HeldFolder, name: string): string {
  try {
    return readlinkSync(entryOf(held, name))
  } catch {
    return ''
  }
}

function rowOf (stat: Stats): Row {
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other'
  // Without setuid and setgid: these rights were granted to the content that was there.
  const mode = stat.mode & 0o777
  // A folder changes with each entry: its entries are compared themselves.
  const times = kind === 'folder' ? mode : `${stat.mtimeMs}:${stat.ctimeMs}`
  return {
    kind,
    mode,
    stat: `${stat.dev}:${stat.ino}:${kind === 'folder' ? 0 : stat.size}:${times}`,
    changedAt: kind === 'folder' ? 0 : stat.ctimeMs,
    ino: String(stat.ino),
    size: stat.size,
    bornAt: stat.birthtimeMs
  }
}
