import { createHash } from 'node:crypto'
import { lstat, open, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { OwnFiles } from './open-folder.ts'
import { isDatabase, isSame, type Item, type Place, SQLITE_BYTES } from './places.ts'
import { inBatches, lookAt } from './survey.ts'

// Files that belong together are restored together or not at all: those of a git directory, and a database of SQLite with its side files.

/** A git directory or a database, as a call found and left it. */
export interface Unit {
  kind: 'repository' | 'database'
  /** The call made it. */
  isNew?: true
  /** Digests of the files that change with each use: refs, index and HEAD of a repository, all files of a database. */
  before: string
  after: string
  /** Objects of the repository that the call left. */
  objects?: number
  /** The git directory that a file leads to in the place of this one: both are restored, or none. */
  replacedBy?: string
}

/** Units by their real paths. */
export type Units = Record<string, Unit>

type Kind = Unit['kind']

/** Paths of rows have slashes on every system. */
const slashed = (path: string): string => path.split(sep).join('/')

const SIDE_FILES = ['', '-wal', '-shm', '-journal']
const SIDE_FILE = /-(?:wal|shm|journal)$/
/** Folders of a git directory, or of a worktree in it, all of whose files change with a use of the repository. */
const USED_FOLDERS = ['refs', 'reftable', 'rebase-merge', 'rebase-apply', 'sequencer']
// Editors fetch in the background and write FETCH_HEAD; ORIG_HEAD changes with HEAD alone.
const USED_FILE = String.raw`(?!FETCH_HEAD|ORIG_HEAD)(?:[A-Z_]+_)?HEAD|index|sharedindex\..*|packed-refs|[^/]+\.lock`
const USED = new RegExp(String.raw`^(?:worktrees/[^/]+/)?(?:${USED_FILE}|(?:${USED_FOLDERS.join('|')})/.+)$`)

/** Whether a file of a git directory, by its path in it, is an object, or a fetch that changes nothing else. These are never taken away. */
const isObject = (inner: string): boolean => inner === 'FETCH_HEAD' || inner.startsWith('objects/')

/** Whether the item is what a call added to the objects of a repository that was there: an undo leaves it. */
export function isAddedObject ({ path, before, unit }: Pick<Item, 'path' | 'before' | 'unit'>, units: Units = {}): boolean {
  const found = unit === undefined ? undefined : units[unit]
  return found?.kind === 'repository' && !found.isNew && before === null && isObject(slashed(relative(unit!, path)))
}

/** Returns the digest of the files that a use changes, by their paths in the unit: with the side file's ending for a database. */
export function useDigest (kind: Kind, files: Iterable<[inner: string, place: Place | undefined]>): string {
  const lines: string[] = []
  for (const [inner, place] of files) {
    if (!place || place.kind === 'folder' || (kind === 'repository' && !USED.test(inner))) continue
    lines.push(`${inner}\0${place.kind === 'file' ? place.digest : place.kind === 'link' ? place.target : place.kind}`)
  }
  return createHash('sha256').update(lines.sort().join('\n')).digest('base64url')
}

/** What a unit is now. */
interface UseNow {
  digest: string
  objects: number
}

/** Looks at the files of a unit that a use changes. */
export async function lookAtUse (path: string, kind: Kind, paths: OwnFiles): Promise<UseNow> {
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

/** Returns whether somebody used the unit since the call: refs, index, HEAD or a file of the database differ, or objects are gone. */
export async function wasUsed (path: string, { kind, after, objects = 0 }: Unit, paths: OwnFiles): Promise<boolean> {
  const now = await lookAtUse(path, kind, paths)
  return now.digest !== after || now.objects < objects
}

/** Creates the function that finds the units of items, as they are on the disk now. */
function createUnitFinder () {
  const known = new Map<string, Promise<boolean>>()
  const isThere = (path: string, isFolder: boolean) => lstat(path).then((stat) => stat.isDirectory() === isFolder, () => false)
  const isGitDirectory = (folder: string): Promise<boolean> => {
    if (!known.has(folder)) {
      known.set(folder, isThere(join(folder, 'HEAD'), false).then(async (has) =>
        has && await isThere(join(folder, 'objects'), true) && isThere(join(folder, 'refs'), true)))
    }
    return known.get(folder)!
  }

  /** Returns the git directory that a path is, or lies in. */
  async function repositoryOf (path: string): Promise<string | undefined> {
    for (let place = path; place !== dirname(place); place = dirname(place)) if (await isGitDirectory(place)) return place
    return undefined
  }

  /** Returns the unit of a path: its real path, and its kind. A database is looked for where `isSought`. */
  return async function findUnit (path: string, isSought: boolean): Promise<[path: string, kind: Kind] | undefined> {
    const repository = await repositoryOf(path)
    if (repository !== undefined) return [repository, 'repository']
    if (!isSought) return undefined
    for (const place of new Set([path, path.replace(SIDE_FILE, '')])) if (await isDatabaseAt(place)) return [place, 'database']
    return undefined
  }
}

async function isDatabaseAt (path: string): Promise<boolean> {
  // Looked at before it is opened: to open a device can have effects.
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

/** The digest of a unit that is not there. */
const NOTHING = useDigest('repository', [])

/**
 * Sets `unit` of items that are about to be changed, where `unitOf` does not know it, and returns the units as they are. Where `isSought`,
 * databases are looked for; else they are known by their items.
 */
export async function unitsBefore (
  items: readonly Item[],
  paths: OwnFiles,
  { unitOf = () => undefined, isSought = false }: {
    unitOf?: (path: string) => { path: string, kind: Kind } | undefined,
    isSought?: boolean
  } = {}
): Promise<Units> {
  const find = createUnitFinder()
  const units: Units = {}
  const kinds = new Map<string, Kind>()
  await inBatches(items, async (item) => {
    const expected = unitOf(item.path)
    const known = item.unit === item.path ? [item.path, 'database'] as const : undefined
    const [path, kind] = expected === undefined ? await find(item.path, isSought) ?? known ?? [] : [expected.path, expected.kind]
    if (path === undefined) return
    item.unit = path
    kinds.set(path, kind!)
  })
  for (const [path, kind] of kinds) {
    const { digest } = await lookAtUse(path, kind, paths)
    units[path] = { kind, before: digest, after: digest }
  }
  return units
}

/** Returns the units that a copy of a folder would change, by the paths in the folder; `copyOf` is where the copy of a path is. */
export async function unitsToReplace (
  paths: readonly string[],
  copyOf: (path: string) => string,
  own: OwnFiles
): Promise<Map<string, Unit & { path: string, isBroken: boolean }>> {
  const items = paths.map((path): Item => ({ path, before: null }))
  const units = new Map<string, Unit & { path: string, isBroken: boolean }>()
  for (const [path, unit] of Object.entries(await unitsBefore(items, own, { isSought: true }))) {
    // A side file that the copy does not change must be the same in both.
    const sides = unit.kind === 'database' ? SIDE_FILES.map((side) => path + side).filter((side) => !paths.includes(side)) : []
    const isSameSide = async (side: string) =>
      isSame(await lookAt(side, undefined, { paths: own }), await lookAt(copyOf(side), undefined, { paths: own }))
    units.set(path, { ...unit, path, isBroken: (await inBatches(sides, isSameSide)).includes(false) })
  }
  return new Map(items.flatMap(({ path, unit }) => unit === undefined ? [] : [[path, units.get(unit)!]]))
}

/** Returns the units as a call has left them, with those that it made. */
export async function unitsAfter (items: readonly Item[], before: Units, paths: OwnFiles): Promise<Units> {
  const find = createUnitFinder()
  const units: Units = {}
  const found = await inBatches(items, async (item): Promise<Array<[path: string, kind: Kind]>> => {
    const known = before[item.unit ?? '']
    if (known !== undefined) return [[item.unit!, known.kind]]
    const made = item.before === null ? await find(item.path, item.after?.kind === 'file') : undefined
    if (made === undefined) return []
    ;[item.unit] = made
    return [made]
  })
  for (const [path, kind] of new Map(found.flat())) {
    const { digest: after, objects } = await lookAtUse(path, kind, paths)
    const known = before[path]
    // One that was there before its folder was moved here is new at this place, and so are its objects.
    const isNew = known === undefined || known.before === NOTHING
    units[path] = { kind, ...isNew && { isNew }, before: known?.before ?? NOTHING, after, ...kind === 'repository' && { objects } }
  }
  return units
}

/** What a record of a folder says of a path that is needed to find units. */
interface KnownRow {
  kind: string
  isDatabase?: true
  /** Of a file `.git` or `commondir`: its text. */
  leads?: string
}

type Rows = ReadonlyMap<string, KnownRow>

/** Returns the paths of the git directories among the rows of a folder, relative to it. */
export function repositoriesAmong (...all: Rows[]): Set<string> {
  const found = new Set<string>()
  for (const rows of all) {
    const isFolder = (path: string) => rows.get(path)?.kind === 'folder'
    for (const [path, { kind }] of rows) {
      if (kind === 'folder' || !(path === 'HEAD' || path.endsWith('/HEAD'))) continue
      const prefix = path.slice(0, -'HEAD'.length)
      if (isFolder(`${prefix}objects`) && isFolder(`${prefix}refs`)) found.add(prefix.slice(0, -1))
    }
  }
  return found
}

/** Returns which of the folders a path is, or lies in: the innermost one. */
export function innermost (folders: ReadonlySet<string>, path: string): string | undefined {
  for (let place = path; ; place = dirname(place)) {
    const known = place === '.' ? '' : place
    if (folders.has(known)) return known
    if (known === '' || known === dirname(known)) return undefined
  }
}

/** Returns the unit that a path of a recorded folder belongs to: its real path and its kind. */
export function unitOfRow (
  path: string,
  { folder, repositories, rows }: { folder: string, repositories: ReadonlySet<string>, rows: readonly Rows[] }
): [path: string, kind: Kind] | undefined {
  const repository = repositoryOfRow(path)
  if (repository !== undefined) return [repository, 'repository']
  const base = path.replace(SIDE_FILE, '')
  const database = [path, base].find((each) => rows.some((known) => known.get(each)?.isDatabase))
  return database === undefined ? undefined : [join(folder, database), 'database']

  function repositoryOfRow (path: string, depth = 0): string | undefined {
    const inside = innermost(repositories, path)
    if (inside !== undefined) return join(folder, inside)
    if (depth > 2) return undefined
    // A worktree's own git directory leads to the common one, and its file `.git` to its own.
    const leader = basename(path) === '.git' ? path : undefined
    const lead = [leader, ...upwards(dirname(path)).map((each) => join(each, 'commondir'))]
      .find((each) => each !== undefined && rows.some((known) => known.get(each)?.leads !== undefined))
    if (lead === undefined) return undefined
    const text = rows.map((known) => known.get(lead)?.leads).find((each) => each !== undefined)!
    const target = resolve(folder, dirname(lead), text.replace(/^gitdir:\s*/, ''))
    if (!target.startsWith(folder + sep)) return target.replace(/[\\/]worktrees[\\/][^\\/]+$/, '')
    return repositoryOfRow(slashed(relative(folder, target)), depth + 1)
  }
}

const upwards = (path: string): string[] => path === '.' || path === dirname(path) ? ['.'] : [path, ...upwards(dirname(path))]

/**
 * Sets `unit` of the items, which differ from a record of a folder, and returns the units. `before` and `after`: what is known of a path
 * of the folder before and after the call; `paths`: all that there are then.
 */
export function unitsOfItems (
  items: Item[],
  { folder, rows, before, after }: {
    folder: string
    /** The rows of the record, and those of now. */
    rows: [before: Rows, after: Rows]
    before: (path: string) => Place | undefined
    after: (path: string) => Place | undefined
  }
): Units {
  const units: Units = {}
  if (items.length === 0) return units
  const scope = { folder, repositories: repositoriesAmong(...rows), rows }
  const now = { folder, repositories: repositoriesAmong(rows[1]), rows: rows.slice(1) }
  for (const item of items) {
    const [path, kind] = unitOfRow(slashed(relative(folder, item.path)), scope) ?? []
    if (path === undefined) continue
    item.unit = path
    units[path] ??= describeUnit(path, kind!)
    if (item.path === path && item.after?.kind === 'file') units[path].replacedBy = unitOfRow(slashed(relative(folder, path)), now)?.[0]
  }
  return units

  function describeUnit (path: string, kind: Kind): Unit {
    const top = slashed(relative(folder, path))
    const state = (at: 0 | 1) => useDigest(kind, filesOf(at))
    function * filesOf (at: 0 | 1): Generator<[string, Place | undefined]> {
      const place = [before, after][at]
      if (kind === 'database') for (const side of SIDE_FILES) yield [side, place(top + side)]
      else for (const path of rows[at].keys()) if (isIn(path, top)) yield [inside(path, top), place(path)]
    }
    let objects = 0
    const prefix = top === '' ? 'objects/' : `${top}/objects/`
    if (kind === 'repository') for (const [path, row] of rows[1]) if (row.kind !== 'folder' && path.startsWith(prefix)) objects++
    const wasThere = kind === 'database' ? rows[0].has(top) : repositoriesAmong(rows[0]).has(top)
    return { kind, ...!wasThere && { isNew: true }, before: state(0), after: state(1), ...kind === 'repository' && { objects } }
  }
}

const isIn = (path: string, top: string): boolean => top === '' || path.startsWith(`${top}/`)
const inside = (path: string, top: string): string => top === '' ? path : path.slice(top.length + 1)
