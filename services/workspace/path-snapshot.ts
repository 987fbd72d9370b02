import type { FileHandle } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import type { ChangedPath, FileChange } from '../contracts/tool.ts'
import { createSealedWriter, FileUnwritten, newSealedFile } from '../lib/sealed-file.ts'
import type { OwnFiles } from './open-folder.ts'
import { CopiesUnavailable, isUnchanged, type Item, type Place, UNREAD } from './places.ts'
import { type ReadFile, readWhole } from './contents.ts'
import type { UndoSpace } from './space.ts'
import { inBatches, lookAt, surveyAll } from './survey.ts'
import { type Unit, type Units, unitsAfter, unitsBefore } from './whole-units.ts'

interface TakeParts {
  /** The folder with the copies for undo. */
  folder: string
  /** The name of the file of copies. */
  id: string
  paths: OwnFiles
  space: UndoSpace
  signal: AbortSignal
  /** The units (git directories and databases) that paths belong to, as far as they are known. */
  units?: ReadonlyMap<string, Unit | undefined>
}

/** What was at some paths, with copies for undo on disk. The copies are kept at least until `release` or `discard`. */
interface PathSnapshot {
  items: Item[]
  units: Units
  /** The key of the file of copies by its name; empty if nothing was copied. */
  contents: Record<string, string>
  /** The size of that file. */
  bytes: number
  release(): void
  discard(): Promise<void>
}

/** Copies what is at the paths. Throws CopiesUnavailable if the disk is full, and PathRefused. */
export async function takePaths (
  places: readonly ChangedPath[],
  { folder, id, paths, space, signal, units: expected }: TakeParts
): Promise<PathSnapshot> {
  const release = space.use([id])
  const file = newSealedFile(id)
  const writer = createSealedWriter(folder, file)
  const discard = async () => {
    await writer.discard()
    space.recount()
    release()
  }
  const { file: largest, total } = space.limits()
  async function read (file: FileHandle, size: number): Promise<ReadFile | undefined> {
    const limit = Math.min(largest, total - writer.bytes)
    if (size > limit) return undefined
    const copy = { file: id, ...writer.position() }
    const found = await readWhole(file, { limit, signal, size }, async (bytes) => {
      // The chunk is reused for the next read, so its bytes are copied.
      writer.append(Buffer.from(bytes))
      await writer.flush()
    })
    writer.endContent()
    return found && { ...found, copy }
  }
  try {
    const items = await surveyAll([...places], { paths, signal, read })
    const bytes = await writer.close()
    if (bytes > 0) await space.add(bytes)
    const contents: PathSnapshot['contents'] = bytes > 0 ? { [id]: file.key } : {}
    for (const item of items) item.unit = expected?.get(item.path)?.path ?? item.unit
    const known = Object.fromEntries([...expected?.values() ?? []].flatMap((unit) => unit === undefined ? [] : [[unit.path, unit]]))
    return { items, units: await unitsBefore(items, paths, { known }), contents, bytes, release, discard }
  } catch (error) {
    await discard()
    throw error instanceof FileUnwritten ? new CopiesUnavailable(error.message) : error
  }
}

/**
 * Compares a snapshot with what is there now. Returns what a call changed, with what it left at each path, and the units as they are now.
 * `reported`: the changes that the tool reported.
 */
export async function diffPaths (
  { items, units = {} }: { items: readonly Item[], units?: Units },
  { places, reported, paths }: { places: readonly ChangedPath[], reported?: readonly FileChange[], paths: OwnFiles }
): Promise<{ items: Item[], units: Units }> {
  const changed = await settleItems({ items, places, reported, paths })
  return { items: changed, units: await unitsAfter(changed, units, paths) }
}

const isDigest = (text: string | null | undefined): text is string => text?.startsWith('sha256:') === true
const fileOf = (digest: string): Place => ({ kind: 'file', digest, size: 0, mode: 0o666 })

/**
 * Returns the items that a call changed, with what it left at each. A report of the tool takes precedence if it says more: for example, a
 * file that somebody replaced between the copy and the change was not kept. Changes that the tool did not report were made by another
 * program, except folders above its paths and removed parts of a tree. Without a report, after a crash, what is there counts as what the
 * call left.
 */
async function settleItems (
  { items, places, reported, paths }: {
    items: readonly Item[]
    places: readonly ChangedPath[]
    reported?: readonly FileChange[]
    paths: OwnFiles
  }
): Promise<Item[]> {
  const reports = new Map(reported?.map((change) => [change.path, change]))
  const look = (path: string, like: Place | undefined) => lookAt(path, like, { paths }).catch((): undefined => undefined)

  async function leftAt ({ path, before }: Item): Promise<Place | undefined> {
    const digest = reports.get(path)?.after
    if (!isDigest(digest)) return look(path, before)
    const found = await look(path, UNREAD)
    return found?.kind === 'file' ? { ...found, digest } : found
  }

  const trees = new Set(places.flatMap(({ path, withContents }) => withContents ? [path] : []))
  const isOfOthers = ({ path, isParent }: Item, after: Place | undefined) => !isParent && (after !== null || !isInTree(path))
  const isInTree = (path: string): boolean => trees.has(path) || (dirname(path) !== path && isInTree(dirname(path)))

  const removed: string[] = []
  const isBelow = ({ path }: Item) => removed.some((root) => path.startsWith(root))
  // Nothing is below a removed folder, so of a deleted tree only the root is examined.
  for (const item of items) {
    if (item.before?.kind === 'folder' && !isBelow(item) && await look(item.path, item.before) === null) removed.push(item.path + sep)
  }
  const settled = (await inBatches(items, async (item) => {
    const after = isBelow(item) ? null : await leftAt(item)
    const change = reports.get(item.path)
    if (reported !== undefined && change === undefined && isOfOthers(item, after)) return []
    const found = change === undefined ? item : corrected(item, change)
    return isUnchanged(found.before, after) ? [] : [{ ...found, after }]
  })).flat()
  for (const { path, before, after } of reported ?? []) {
    if (items.some((item) => item.path === path) || before === after) continue
    const place = after === null ? null : await look(path, undefined)
    settled.push({
      path,
      before: before === null ? null : fileOf(before),
      after: place,
      ...(before !== null && { notKept: 'gone' as const })
    })
  }
  for (const { path, withContents } of places) {
    const root = settled.find((item) => item.path === path)
    if (!withContents || root?.after?.kind !== 'folder' || root.before?.kind === 'folder') continue
    const read = (file: FileHandle, size: number) => readWhole(file, { limit: Infinity, size })
    const moved = await surveyAll([{ path, withContents }], { paths, read }).catch(() => [])
    // An undo and an apply also name what is in a folder.
    const named = new Set(settled.map(({ path }) => path))
    for (const { path: inner, before: after } of moved.slice(1)) if (!named.has(inner)) settled.push({ path: inner, before: null, after })
  }
  return settled
}

/** Returns the item with the right `before`, if the tool found something else there when it made the change. */
function corrected (item: Item, { before }: FileChange): Item {
  if (before === null) return item.before === null ? item : { path: item.path, before: null }
  if (!isDigest(before) || (item.before?.kind === 'file' && (item.before.digest === before || !isDigest(item.before.digest)))) return item
  return { path: item.path, before: fileOf(before), notKept: 'gone' }
}
