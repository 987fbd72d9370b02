import { createHash } from 'node:crypto'
import { lstat, open, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { OwnFiles } from './open-folder.ts'
import { isDatabase, type Item, type Place, SQLITE_BYTES } from './places.ts'
import { inBatches, lookAt } from './survey.ts'

// Files that belong together are restored together or not at all: those of a git directory, and a database of SQLite with its side files.

/** A git directory or a database, in the state before and after a call. */
export interface Unit {
  /** Its real path. */
  path: string
  kind: 'repository' | 'database'
  /**
   * Digests of the files that change with each use: refs, index and HEAD of a repository, all files of a database. `before` is NOTHING if
   * the call made the unit (the git directory or database).
   */
  before: string
  after: string
  /** The number of objects of the repository after the call; 0 for a database. */
  objects: number
  /** Set if a file has replaced this git directory: the git directory to which that file leads. Both are restored, or neither. */
  replacedBy?: string
  /** True if somebody else used the unit between two calls of a run, or since the folder was copied. */
  isBroken?: boolean
}

/** Units by their real paths. */
export type Units = Record<string, Unit>

type Kind = Unit['kind']

/** Paths of rows have slashes on every system. */
const slashed = (path: string): string => path.split(sep).join('/')

export const SIDE_FILES = ['', '-wal', '-shm', '-journal']
const SIDE_FILE = /-(?:wal|shm|journal)$/
/** Folders of a git directory, or of a worktree in it, in which all files change with a use of the repository. */
const USED_FOLDERS = ['refs', 'reftable', 'rebase-merge', 'rebase-apply', 'sequencer']
// Editors fetch in the background and write FETCH_HEAD; ORIG_HEAD changes only together with HEAD.
const USED_FILE = String.raw`(?!FETCH_HEAD|ORIG_HEAD)(?:[A-Z_]+_)?HEAD|index|sharedindex\..*|packed-refs|[^/]+\.lock`
const USED = new RegExp(String.raw`^(?:worktrees/[^/]+/)?(?:${USED_FILE}|(?:${USED_FOLDERS.join('|')})/.+)$`)

/**
 * Whether a file of a git directory, by its path in it, is an object, or belongs to a fetch that changes nothing else. These files are
 * never removed.
 */
const isObject = (inner: string): boolean => inner === 'FETCH_HEAD' || inner.startsWith('objects/')

/** Whether a call added the item to the objects of a repository that existed before: an undo does not remove it. */
export const isAddedObject = ({ path, before }: Pick<Item, 'path' | 'before'>, unit: Unit | undefined): boolean =>
  unit?.kind === 'repository' && unit.before !== NOTHING && before === null && isObject(slashed(relative(unit.path, path)))

/** Returns the digest of the files that a use changes, by their paths in the unit; for a database, by the ending of the side file. */
function useDigest (kind: Kind, files: Iterable<[inner: string, place: Place | undefined]>): string {
  const lines: string[] = []
  for (const [inner, place] of files) {
    if (!place || place.kind === 'folder' || (kind === 'repository' && !USED.test(inner))) continue
    lines.push(`${inner}\0${place.kind === 'file' ? place.digest : place.kind === 'link' ? place.target : place.kind}`)
  }
  return createHash('sha256').update(lines.sort().join('\n')).digest('base64url')
}

/** The digest of a unit that does not exist. */
const NOTHING = useDigest('repository', [])

/** The present state of a unit. */
interface UseNow {
  digest: string
  objects: number
}

/** Examines the files of a unit that a use changes. */
export async function lookAtUse ({ path, kind }: Pick<Unit, 'path' | 'kind'>, paths: OwnFiles): Promise<UseNow> {
  const names = kind === 'database' ? SIDE_FILES : await usedFilesIn(path)
  const files = await inBatches(names, async (inner): Promise<[string, Place]> =>
    [inner, await lookAt(kind === 'database' ? path + inner : join(path, inner), undefined, { paths })])
  return { digest: useDigest(kind, files), objects: kind === 'database' ? 0 : await countFiles(join(path, 'objects')) }
}

const entriesOf = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => [])

async function usedFilesIn (path: string): Promise<string[]> {
  const found: string[] = []
  async function inside (prefix: string, isTop: boolean): Promise<void> {
    for (const entry of await entriesOf(join(path, prefix))) {
      const inner = prefix + entry.name
      if (!entry.isDirectory()) found.push(inner)
      else if (!isTop || USED_FOLDERS.includes(entry.name)) await inside(`${inner}/`, false)
      else if (inner === 'worktrees') for (const each of await entriesOf(join(path, inner))) await inside(`worktrees/${each.name}/`, true)
    }
  }
  await inside('', true)
  return found.filter((inner) => USED.test(inner))
}

async function countFiles (folder: string): Promise<number> {
  const entries = await entriesOf(folder)
  const inner = await inBatches(entries, async (entry) => entry.isDirectory() ? countFiles(join(folder, entry.name)) : 1)
  return inner.reduce((sum, each) => sum + each, 0)
}

/** Returns whether somebody used the unit since the call: refs, index, HEAD or a file of the database differ, or objects were removed. */
export async function wasUsed (unit: Unit, paths: OwnFiles): Promise<boolean> {
  const { digest, objects } = await lookAtUse(unit, paths)
  return digest !== unit.after || objects < unit.objects
}

/** Where units are searched for: on the disk as it is now, or in records of a folder. All paths are real paths. */
interface View {
  isGitDirectory(folder: string): Promise<boolean>
  isDatabase(path: string): Promise<boolean>
  /** Returns the recorded text of a file `.git` or `commondir`. */
  leadOf(path: string): string | undefined
  /** The recorded folder. */
  folder?: string
  /** The git directories that were found, by the paths that belong to them. */
  repositories: Map<string, Promise<string | undefined>>
}

function onDisk (): View {
  const isThere = (path: string, isFolder: boolean) => lstat(path).then((stat) => stat.isDirectory() === isFolder, () => false)
  const look = async (folder: string) =>
    await isThere(join(folder, 'HEAD'), false) && await isThere(join(folder, 'objects'), true) && isThere(join(folder, 'refs'), true)
  return { isGitDirectory: look, isDatabase: isDatabaseAt, leadOf: () => undefined, repositories: new Map() }
}

/** The part of the record of a path by which units are found. */
interface KnownRow {
  kind: string
  isDatabase?: true
  /** The text of a file `.git` or `commondir`. */
  leads?: string
}

type Rows = ReadonlyMap<string, KnownRow>

/** Returns the view of records of a folder: its state before a call, after it, or both. */
export function inRecords (folder: string, ...records: Rows[]): View {
  const prefix = folder.endsWith(sep) ? folder : folder + sep
  const rowsAt = (path: string) => {
    const inner = path.startsWith(prefix) ? slashed(path.slice(prefix.length)) : ''
    return records.map((rows) => rows.get(inner))
  }
  return {
    folder,
    async isGitDirectory (place) {
      const [heads, objects, refs] = ['HEAD', 'objects', 'refs'].map((name) => rowsAt(place + sep + name))
      return heads.some((head, at) => head && head.kind !== 'folder' && objects[at]?.kind === 'folder' && refs[at]?.kind === 'folder')
    },
    isDatabase: async (path) => rowsAt(path).some((row) => row?.isDatabase),
    leadOf: (path) => rowsAt(path).find((row) => row?.leads !== undefined)?.leads,
    repositories: new Map()
  }
}

/** Returns the git directory that contains a path, is at it, or to which a file `.git` or `commondir` leads. */
export function findRepository (path: string, view: View): Promise<string | undefined> {
  const { repositories } = view
  if (!repositories.has(path)) repositories.set(path, lookForRepository(path, view))
  return repositories.get(path)!
}

async function lookForRepository (path: string, view: View, depth = 0): Promise<string | undefined> {
  if (await view.isGitDirectory(path)) return path
  const { folder } = view
  // The own git directory of a worktree leads to the common one, and its file `.git` leads to its own.
  const leader = basename(path) === '.git' ? path : path + sep + 'commondir'
  const lead = view.leadOf(leader)
  if (lead !== undefined && folder !== undefined && depth <= 2) {
    const target = resolve(dirname(leader), lead.replace(/^gitdir:\s*/, ''))
    const isInside = target.startsWith(folder + sep)
    return isInside ? lookForRepository(target, view, depth + 1) : target.replace(/[\\/]worktrees[\\/][^\\/]+$/, '')
  }
  const above = dirname(path)
  if (path === folder || path === above) return undefined
  return depth === 0 ? findRepository(above, view) : lookForRepository(above, view, depth)
}

type Found = [path: string, kind: Kind] | undefined

/** Returns the unit of a path: its real path, and its kind. Databases are searched for only if `isSought`. */
async function findUnit (path: string, view: View, isSought = true): Promise<Found> {
  const repository = await findRepository(path, view)
  if (repository !== undefined) return [repository, 'repository']
  for (const place of isSought ? new Set([path, path.replace(SIDE_FILE, '')]) : []) {
    if (await view.isDatabase(place)) return [place, 'database']
  }
  return undefined
}

async function isDatabaseAt (path: string): Promise<boolean> {
  // Examined before it is opened, because opening a device can have effects.
  if (!await lstat(path).then((stat) => stat.isFile() && stat.size >= 512, () => false)) return false
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return false
  try {
    const { buffer } = await file.read(Buffer.alloc(SQLITE_BYTES), 0, SQLITE_BYTES, 0)
    return isDatabase(buffer)
  } finally {
    await file.close()
  }
}

/**
 * Sets `unit` of the items and returns the units in their present state. `known`: units that items name already; `find` searches for the
 * others.
 */
async function unitsOnDisk (
  items: readonly Item[],
  { known, find, paths }: { known: Units, find: (item: Item, disk: View) => Promise<Found>, paths: OwnFiles }
): Promise<Units> {
  const disk = onDisk()
  const kinds = new Map<string, Kind>()
  await inBatches(items, async (item) => {
    const kind = item.unit === undefined ? undefined : known[item.unit]?.kind
    const found = kind === undefined ? await find(item, disk) : [item.unit!, kind] as const
    if (found === undefined) return
    ;[item.unit] = found
    kinds.set(...found)
  })
  const units: Units = {}
  for (const [path, kind] of kinds) {
    const { digest, objects } = await lookAtUse({ path, kind }, paths)
    units[path] = { path, kind, before: digest, after: digest, objects }
  }
  return units
}

/**
 * Sets `unit` of items that are about to be changed, and returns the units in their present state. If `isSought`, databases are searched
 * for; otherwise they are recognised by their items.
 */
export const unitsBefore = (
  items: readonly Item[],
  paths: OwnFiles,
  { known = {}, isSought = false }: { known?: Units, isSought?: boolean } = {}
): Promise<Units> => {
  const find = async (item: Item, disk: View): Promise<Found> =>
    await findUnit(item.path, disk, isSought) ?? (item.unit === item.path ? [item.path, 'database'] : undefined)
  return unitsOnDisk(items, { known, find, paths })
}

/** Returns the units in the state in which a call has left them, including those that it made. */
export async function unitsAfter (items: readonly Item[], before: Units, paths: OwnFiles): Promise<Units> {
  const find = async ({ path, before: old, after }: Item, disk: View) =>
    old === null ? findUnit(path, disk, after?.kind === 'file') : undefined
  const units = await unitsOnDisk(items, { known: before, find, paths })
  // If a unit existed before its folder was moved here, it is new at this place, and so are its objects.
  for (const [path, unit] of Object.entries(units)) unit.before = before[path]?.before ?? NOTHING
  return units
}

/**
 * Sets `unit` of the items, which differ from the record of a folder, and returns the units. `rows`: the rows of the record, and the
 * present ones; `places`: two functions that return what was at a path before the call, and after it.
 */
export async function unitsOfItems (
  items: Item[],
  { folder, rows, places }: { folder: string, rows: [Rows, Rows], places: Array<(path: string) => Place | undefined> }
): Promise<Units> {
  const units: Units = {}
  const [before, after] = rows.map((each) => inRecords(folder, each))
  const both = inRecords(folder, ...rows)
  for (const item of items) {
    const [path, kind] = await findUnit(item.path, both) ?? []
    if (path === undefined) continue
    item.unit = path
    units[path] ??= await describeUnit(path, kind!)
    if (item.path === path && item.after?.kind === 'file') units[path].replacedBy = await findRepository(path, after)
  }
  return units

  async function describeUnit (path: string, kind: Kind): Promise<Unit> {
    const top = slashed(relative(folder, path))
    const prefix = top === '' ? '' : `${top}/`
    function * filesOf (at: number): Generator<[string, Place | undefined]> {
      if (kind === 'database') for (const side of SIDE_FILES) yield [side, places[at](top + side)]
      else for (const each of rows[at].keys()) if (each.startsWith(prefix)) yield [each.slice(prefix.length), places[at](each)]
    }
    const wasThere = kind === 'database' || await before.isGitDirectory(path)
    let objects = 0
    for (const [each, row] of rows[1]) if (row.kind !== 'folder' && each.startsWith(`${prefix}objects/`)) objects++
    return { path, kind, before: wasThere ? useDigest(kind, filesOf(0)) : NOTHING, after: useDigest(kind, filesOf(1)), objects }
  }
}
