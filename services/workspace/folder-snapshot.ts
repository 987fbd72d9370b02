import { createHash } from 'node:crypto'
import { closeSync, existsSync, lstatSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { CHUNK_BYTES, createSealedWriter, readSealed, type SealedFile, writeSealed } from '../lib/sealed-file.ts'
import { holdFolder, openEntry, readInto, release } from './held-folder.ts'
import {
  Beyond,
  type Compared,
  type CompareRequest,
  type Recorded,
  type RecordRequest,
  type Row,
  type TreeRequest
} from './tree-rpc.ts'
import { isDatabase, isRead, isUnchanged, type Item, type Place, statDigest } from './places.ts'
import { findRepository, inRecords, unitsOfItems } from './whole-units.ts'
import { differingPaths, type Tree, walkTree } from './walk-tree.ts'

/** The version of the format of records; records of other versions are ignored. */
const VERSION = 3
/** The most left-out folders that are named. */
const MOST_NAMED = 20
/** The most bytes of the text of a file `.git`. */
const LONGEST_LEAD = 4096
/** Two changes within this many milliseconds can have the same change time, which then does not show the later change. */
const RACY_MS = 100

/** The newest record that this thread has written or read. */
let newest: { id: string, tree: Tree } | undefined

/**
 * Writes what is in a folder and not recorded yet: the contents of new and changed files to one sealed file, and a record of all paths to
 * another. Both are durable when it returns. Runs in a worker.
 */
export async function takeFolder (request: RecordRequest): Promise<Recorded> {
  const { folder, store, limits, last, next } = request
  try {
    const known = last && await readRecord(store, last)
    const isThere = new Map(Object.keys(known?.contents ?? {}).map((file) => [file, existsSync(join(store, file))]))
    const found = walkTree(request, {
      known,
      isUsable: (row) => !isRacy(row, known!.at) && (row.copy === undefined || isThere.get(row.copy.file)!)
    })
    const isNew = known === undefined || differingPaths(found, known).length > 0 || known.left.size !== found.left.size
    const toCopy = found.fresh.filter(([, { kind }]) => kind === 'file')
    for (const [path, row] of toCopy) {
      if (row.size <= limits.file) continue
      Object.assign(row, { notKept: 'too_large', digest: statDigestAt(folder, path) })
      readEntryOf(folder, path, row, limits.file)
    }
    let keptBytes = 0
    for (const { kind, size } of found.rows.values()) if (kind === 'file' && size <= limits.file) keptBytes += size
    if (keptBytes > limits.bytes) throw new Beyond('bytes')
    if (next === undefined || !isNew) return { leftOut: await describeLeftOut(folder, found), contents: Object.keys(known?.contents ?? {}) }
    const written = await copyContents(request, toCopy, next.contents)
    found.contents = written === 0 ? {} : { [next.contents.id]: next.contents.key }
    for (const { copy } of found.rows.values()) if (copy !== undefined) found.contents[copy.file] ??= known!.contents[copy.file]
    const { fresh: _, ...tree } = found
    const text = JSON.stringify({ version: VERSION, ...tree, left: [...tree.left], rows: [...tree.rows] })
    const record = await writeSealed(store, next.record, Buffer.from(text))
    newest = { id: next.record.id, tree }
    return { leftOut: await describeLeftOut(folder, found), contents: Object.keys(found.contents), written: { record, contents: written } }
  } catch (error) {
    if (error instanceof Beyond) return { why: describeLimit(error.limit, limits) }
    const reason = describeDiskFailure(error)
    if (reason === undefined) throw error
    return { failed: reason }
  }
}

/** Returns the differences between a folder and a record. Runs in a worker. */
export async function diffFolder (request: CompareRequest): Promise<Compared> {
  const { folder, store, record, limits } = request
  const known = await readRecord(store, record)
  if (known === undefined) throw new Error('its record is gone')
  const now = walkTree({ ...request, limits: { paths: limits.paths * 2 } }, { known, isUsable: (row) => !isRacy(row, known.at) })
  const changed = differingPaths(now, known)
  let inodes: Set<number> | undefined
  const differences: Item[] = []
  const strange: string[] = []
  const [closed, closedBefore] = changed.length === 0 ? [[], []] : [closedIn(now), closedIn(known)]

  for (const path of changed) {
    const before = known.rows.get(path)
    const row = now.rows.get(path)
    if (row === undefined) {
      if (!closed.some((root) => path.startsWith(root))) differences.push(difference(folder, path, before!, null))
      continue
    }
    if (before === undefined) {
      // The record says nothing about what could not be read.
      if (closedBefore.some((root) => path.startsWith(root))) continue
      inodes ??= new Set([...known.rows.values()].map(({ ino }) => ino))
      // A file that is older than the record was moved here from a place that the record leaves out.
      if (row.kind === 'file' && !inodes.has(row.ino) && row.bornAt > 0 && row.bornAt < known.at - RACY_MS) {
        strange.push(path)
        continue
      }
      differences.push({ path: join(folder, path), before: null, after: placeOf(row, path, request) })
      continue
    }
    const after = placeOf(row, path, request, before)
    // A file that cannot be read any more because of its permissions cannot be compared.
    const isUnread = isUnreadNow(before, row, after)
    if (isUnread ? before.mode === row.mode : isUnchanged(placeAsKnown(before), after)) continue
    differences.push({ ...difference(folder, path, before, after), ...(isUnread && { isUnread }) })
  }
  differences.sort((a, b) => a.path < b.path ? -1 : 1)
  const used = new Set(differences.flatMap(({ copy }) => copy?.file === undefined ? [] : [copy.file]))
  const contents = Object.fromEntries([...used].map((file) => [file, known.contents[file]]))
  const left = new Map(differences.map(({ path, after }) => [path, after]))
  const before = (path: string) => known.rows.has(path) ? placeAsKnown(known.rows.get(path)!) : undefined
  const after = (path: string) => {
    const place = join(folder, path)
    return left.has(place) ? left.get(place) : before(path)
  }
  const units = await unitsOfItems(differences, { folder, rows: [known.rows, now.rows], places: [before, after] })
  const unseen = closed.filter((root) => !closedBefore.includes(root)).slice(0, MOST_NAMED)
  return { differences, units, contents, strange: strange.slice(0, MOST_NAMED), unseen }
}

/** Returns the folders that could not be read, each with a slash at its end. */
const closedIn = ({ rows }: Tree): string[] => {
  const closed: string[] = []
  for (const [path, { isClosed }] of rows) if (isClosed) closed.push(`${path}/`)
  return closed
}

const isUnreadNow = (before: Row, row: Row, after: Place): boolean =>
  after?.kind === 'file' && !isRead(after) && before.digest?.startsWith('sha256:') === true &&
  before.ino === row.ino && before.size === row.size && before.modifiedAt === row.modifiedAt

const isRacy = ({ changedAt }: Row, at: number): boolean => changedAt > at - RACY_MS

const difference = (folder: string, path: string, row: Row, after: Place): Item => ({
  path: join(folder, path),
  before: placeAsKnown(row),
  after,
  ...(row.copy && { copy: row.copy }),
  ...(row.notKept && { notKept: row.notKept })
})

function statDigestAt (folder: string, path: string): string {
  const stat = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? 'stat:' : statDigest(stat)
}

function placeAsKnown ({ kind, mode, size, digest = 'stat:', target }: Row): Place {
  if (kind === 'file') return { kind, digest, size, mode }
  return kind === 'folder' ? { kind, mode } : kind === 'link' ? { kind, target: target! } : { kind }
}

/** Returns what is at a path now. The content of a file is read, unless it is too large for a copy or could not be read before. */
function placeOf (row: Row, path: string, { folder, limits }: TreeRequest, like?: Row): Place {
  if (row.kind !== 'file') return placeAsKnown(row)
  const isRead = row.size <= limits.file && like?.notKept === undefined
  const digest = isRead || like === undefined ? readEntryOf(folder, path, row, limits.file) : undefined
  return placeAsKnown({ ...row, digest: digest ?? statDigestAt(folder, path) })
}

const describeLimit = (limit: Beyond['limit'], { paths, bytes }: TreeRequest['limits']): string =>
  limit === 'paths'
    ? `The folder holds more than ${paths} files and folders: no copy of them is kept.`
    : `The files of the folder are larger than ${Math.round(bytes / 1024 ** 2)} MiB together: no copy of them is kept.`

/** Returns sentences that say which parts of a folder are not kept; '' if everything is. */
async function describeLeftOut (folder: string, { left, rows }: Tree): Promise<string> {
  const folders = [...left]
  const files: string[] = []
  for (const [path, { notKept, isClosed }] of rows) {
    if (notKept !== undefined) files.push(path)
    if (isClosed) folders.push(path)
  }
  const missing = [...folders.sort(), ...files]
  const view = inRecords(folder, rows)
  const partly = new Set<string>()
  for (const path of missing) partly.add(await findRepository(join(folder, path), view) ?? '')
  partly.delete('')
  const repositories = [...partly].slice(0, MOST_NAMED).map((path) => relative(folder, path) || '.')
  const named = [...folders.slice(0, 5), ...folders.length > 5 ? [`${folders.length - 5} more`] : []].join(', ')
  return [
    folders.length > 0 && `No copy is kept of ${named}.`,
    files.length > 0 && `No copy is kept of ${files.length} ${files.length === 1 ? 'file' : 'files'} too large or unreadable.`,
    repositories.length > 0 && `Of the repository ${repositories.join(', ')} a part is not kept: a command that rewrites that part, ` +
      'such as "git gc", cannot be undone there.'
  ].filter((sentence) => sentence !== false).join(' ')
}

/**
 * Reads a file of the folder and calls `take` with each chunk. Returns its digest; undefined if the file cannot be read, is longer than
 * `limit` bytes or was replaced. Links are not followed. Sets `isDatabase` and `leads` of the row from the beginning of the file.
 */
function readEntryOf (
  folder: string,
  path: string,
  row: Row,
  limit: number,
  take: (chunk: Buffer) => void = () => {}
): string | undefined {
  const parts = path.split('/')
  const name = parts.pop()!
  const held = holdFolder(join(folder, ...parts))
  if (held === undefined) return undefined
  const opened = openEntry(held, name)
  release(held)
  if (opened === undefined) return undefined
  const { descriptor, stat } = opened
  try {
    if (Number(stat.ino) !== row.ino) return undefined
    const hash = createHash('sha256')
    for (let size = 0; ;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(row.size - size, 1024)))
      const filled = readInto(chunk, descriptor, size)
      if (size === 0) noteHead(path, row, chunk.subarray(0, filled))
      size += filled
      if (size > limit || row.size > limit) return undefined
      if (filled === 0) break
      hash.update(chunk.subarray(0, filled))
      take(chunk.subarray(0, filled))
      row.size = size
    }
    return `sha256:${hash.digest('base64url')}`
  } finally {
    closeSync(descriptor)
  }
}

function noteHead (path: string, row: Row, head: Buffer): void {
  const name = basename(path)
  if (isDatabase(head)) row.isDatabase = true
  else if (name === '.git' || name === 'commondir') row.leads = head.toString('utf8', 0, LONGEST_LEAD).trim()
}

/**
 * Copies the contents of files to a new sealed file, and records the position of each content in its row. Returns the size of the sealed
 * file in bytes; 0 if no such file was needed.
 */
async function copyContents ({ folder, store, limits }: TreeRequest, files: Array<[string, Row]>, file: SealedFile): Promise<number> {
  const writer = createSealedWriter(store, file)
  try {
    for (const [path, row] of files) {
      if (row.notKept !== undefined) continue
      const begin = writer.position()
      const size = row.size
      const digest = readEntryOf(folder, path, row, limits.file, writer.append)
      writer.endContent()
      await writer.flush()
      if (digest === undefined) Object.assign(row, { notKept: 'gone', size, digest: statDigestAt(folder, path) })
      else Object.assign(row, { digest, copy: { file: file.id, ...begin } })
      // An empty file needs no copy.
      if (row.size === 0) delete row.copy
    }
    return await writer.close()
  } catch (error) {
    await writer.discard()
    throw error
  }
}

/** Reads a record; undefined if it was removed or is damaged. */
async function readRecord (store: string, { id, key }: SealedFile): Promise<Tree | undefined> {
  if (newest?.id === id) return newest.tree
  try {
    const { version, at, left, contents, rows } = JSON.parse((await readSealed(store, { id, key })).toString())
    if (version !== VERSION) return undefined
    const tree: Tree = { at, left: new Set(left), contents, rows: new Map(rows) }
    newest = { id, tree }
    return tree
  } catch {
    return undefined
  }
}
