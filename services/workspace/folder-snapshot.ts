import { createHash } from 'node:crypto'
import {
  closeSync, constants, existsSync, fstatSync, fsyncSync, lstatSync, openSync, readFileSync, readSync, rmSync, writeSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { CHUNK_BYTES, openChunk, sealChunk, TAG_BYTES } from '../lib/sealed-chunks.ts'
import { entryOf, holdFolder, release } from './held-folder.ts'
import {
  Beyond,
  type Compared,
  type CompareRequest,
  type LeftOut,
  type Recorded,
  type RecordRequest,
  type Row,
  type TreeFile,
  type TreeRequest
} from './tree-rpc.ts'
import { isDatabase, isUnchanged, type Item, type Place } from './places.ts'
import { innermost, repositoriesAmong, unitsOfItems } from './whole-units.ts'
import { type Tree, walkTree } from './walk-tree.ts'

/** Of the form of a record: one of another form is not known. */
const VERSION = 3
/** Folders left out that are named. */
const MOST_NAMED = 20
/** Bytes of the text of a file `.git`. */
const LONGEST_LEAD = 4096
/** Milliseconds. Two changes within that time may have one time of change, so that the later one is not seen by it. */
const RACY_MS = 100

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** The newest record that this thread wrote or read. */
let newest: { id: string, tree: Tree } | undefined

/**
 * Writes what is in a folder and is not known yet: the contents of new and changed files into one sealed file, and a record of all paths
 * into another. Both are durable when it returns. Runs in a worker.
 */
export function takeFolder (request: RecordRequest): Recorded {
  const { store, limits, last, next } = request
  try {
    const known = last && readRecord(store, last)
    const isThere = new Map(Object.keys(known?.contents ?? {}).map((file) => [file, existsSync(join(store, file))]))
    const found = walkTree(request, {
      known,
      isUsable: (row) => !isRacy(row, known!.at) && (row.copy === undefined || isThere.get(row.copy.file)!)
    })
    const isNew = found.fresh.length > 0 || known?.rows.size !== found.rows.size || known.left.size !== found.left.size
    const toCopy = found.fresh.filter(([, { kind }]) => kind === 'file')
    for (const [path, row] of toCopy) {
      if (row.size <= limits.file) continue
      Object.assign(row, { notKept: 'too_large', digest: statDigest(request.folder, path) })
      readEntryOf(request.folder, path, row, limits.file)
    }
    let keptBytes = 0
    for (const { kind, size } of found.rows.values()) if (kind === 'file' && size <= limits.file) keptBytes += size
    if (keptBytes > limits.bytes) throw new Beyond('bytes')
    if (next === undefined || !isNew) return { is: 'recorded', leftOut: leftOut(found), contents: Object.keys(known?.contents ?? {}) }
    const written = copyContents(request, toCopy, next.contents)
    found.contents = written === 0 ? {} : { [next.contents.id]: next.contents.key }
    for (const { copy } of found.rows.values()) if (copy !== undefined) found.contents[copy.file] ??= known!.contents[copy.file]
    const record = writeRecord(store, next.record, found)
    const { fresh: _, ...tree } = found
    newest = { id: next.record.id, tree }
    return { is: 'recorded', leftOut: leftOut(found), contents: Object.keys(found.contents), written: { record, contents: written } }
  } catch (error) {
    if (error instanceof Beyond) return { is: 'beyond', limit: error.limit }
    const reason = describeDiskFailure(error)
    if (reason === undefined) throw error
    return { is: 'failed', reason }
  }
}

/** Returns what differs from a record. Runs in a worker. */
export function diffFolder (request: CompareRequest): Compared {
  const { folder, store, record, limits } = request
  const known = readRecord(store, record)
  if (known === undefined) throw new Error('its record is gone')
  const now = walkTree({ ...request, limits: { paths: limits.paths * 2 } }, { known, isUsable: (row) => !isRacy(row, known.at) })
  let inodes: Set<number> | undefined
  const differences: Item[] = []
  const strange: string[] = []
  const closed = closedIn(now)
  const closedBefore = closedIn(known)

  for (const [path, row] of now.fresh) {
    const before = known.rows.get(path)
    if (before === undefined) {
      // Of what could not be read the record knows nothing.
      if (closedBefore.some((root) => path.startsWith(root))) continue
      inodes ??= new Set([...known.rows.values()].map(({ ino }) => ino))
      // What is older than the record was moved here from a place that the record leaves out.
      if (row.kind === 'file' && !inodes.has(row.ino) && row.bornAt > 0 && row.bornAt < known.at - RACY_MS) {
        strange.push(path)
        continue
      }
      differences.push({ path: join(folder, path), before: null, after: placeOf(row, path, request) })
      continue
    }
    const after = placeOf(row, path, request, before)
    // A file that can be read no more: what its permissions forbid cannot be compared.
    const isUnread = isUnreadNow(before, row, after)
    if (isUnread ? before.mode === row.mode : isUnchanged(placeAsKnown(before), after)) continue
    differences.push({ ...difference(folder, path, before, after), ...(isUnread && { isUnread }) })
  }
  for (const [path, before] of known.rows) {
    if (!now.rows.has(path) && !closed.some((root) => path.startsWith(root))) differences.push(difference(folder, path, before, null))
  }
  differences.sort((a, b) => a.path < b.path ? -1 : 1)
  const used = new Set(differences.flatMap(({ copy }) => copy?.file === undefined ? [] : [copy.file]))
  const contents = Object.fromEntries([...used].map((file) => [file, known.contents[file]]))
  const changed = new Map(differences.map(({ path, after }) => [path, after]))
  const before = (path: string) => known.rows.has(path) ? placeAsKnown(known.rows.get(path)!) : undefined
  const after = (path: string) => {
    const place = join(folder, path)
    return changed.has(place) ? changed.get(place) : before(path)
  }
  const units = unitsOfItems(differences, { folder, rows: [known.rows, now.rows], before, after })
  const unseen = closed.filter((root) => !closedBefore.includes(root)).slice(0, MOST_NAMED)
  return { differences, units, contents, strange: strange.slice(0, MOST_NAMED), unseen }
}

/** The folders that could not be read, each with a slash at its end. */
const closedIn = ({ rows }: Tree): string[] => {
  const closed: string[] = []
  for (const [path, { isClosed }] of rows) if (isClosed) closed.push(`${path}/`)
  return closed
}

const isUnreadNow = (before: Row, row: Row, after: Place): boolean =>
  after?.kind === 'file' && after.digest.startsWith('stat:') && before.digest?.startsWith('sha256:') === true &&
  before.dev === row.dev && before.ino === row.ino && before.size === row.size && before.modifiedAt === row.modifiedAt

const isRacy = ({ changedAt }: Row, at: number): boolean => changedAt > at - RACY_MS

const difference = (folder: string, path: string, row: Row, after: Place): Item => ({
  path: join(folder, path),
  before: placeAsKnown(row),
  after,
  ...(row.copy && { copy: row.copy }),
  ...(row.notKept && { notKept: row.notKept })
})

/** What stands for the digest of a file that is not read, as in `Place` of undo. */
function statDigest (folder: string, path: string): string {
  const stat = lstatSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? 'stat:' : `stat:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

function placeAsKnown ({ kind, mode, size, digest = 'stat:', target }: Row): Place {
  if (kind === 'file') return { kind, digest, size, mode }
  return kind === 'folder' ? { kind, mode } : kind === 'link' ? { kind, target: target! } : { kind }
}

/** What is at a path now. The content of a file is read, unless it is too large for a copy or could not be read before. */
function placeOf (row: Row, path: string, { folder, limits }: TreeRequest, like?: Row): Place {
  if (row.kind !== 'file') return placeAsKnown(row)
  const isRead = row.size <= limits.file && like?.notKept === undefined
  const digest = isRead || like === undefined ? readEntryOf(folder, path, row, limits.file) : undefined
  return placeAsKnown({ ...row, digest: digest ?? statDigest(folder, path) })
}

function leftOut ({ left, rows }: Tree): LeftOut {
  const folders = [...left]
  const files: string[] = []
  for (const [path, { notKept, isClosed }] of rows) {
    if (notKept !== undefined) files.push(path)
    if (isClosed) folders.push(path)
  }
  folders.sort()
  const missing = [...folders, ...files]
  const repositories = missing.length === 0 ? new Set<string>() : repositoriesAmong(rows)
  const partly = new Set(missing.flatMap((path) => innermost(repositories, path) ?? []))
  const [named, more] = [folders.slice(0, MOST_NAMED), Math.max(0, folders.length - MOST_NAMED)]
  return { folders: named, more, files: files.length, repositories: [...partly].slice(0, MOST_NAMED) }
}

/**
 * Reads a file of the folder and calls `take` with each chunk; returns its digest, or undefined when it cannot be read, is longer than
 * `limit` bytes or is another file by now. No link is followed. Notes in the row what its beginning says.
 */
function readEntryOf (folder: string, path: string, row: Row, limit: number, take: (chunk: Buffer) => void = () => {}): string | undefined {
  let descriptor
  const parts = path.split('/')
  const name = parts.pop()!
  const held = holdFolder(join(folder, ...parts))
  if (held === undefined) return undefined
  try {
    descriptor = openSync(entryOf(held, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    const stat = fstatSync(descriptor, { bigint: true })
    if (!stat.isFile() || Number(stat.ino) !== row.ino) return undefined
  } catch {
    if (descriptor !== undefined) closeSync(descriptor)
    return undefined
  } finally {
    release(held)
  }
  try {
    const hash = createHash('sha256')
    for (let size = 0; ;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(row.size - size, 1024)))
      let filled = 0
      for (let read = -1; read !== 0 && filled < chunk.length; filled += read) {
        read = readSync(descriptor, chunk, filled, chunk.length - filled, size + filled)
      }
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

/** Copies contents into a new sealed file, and notes in the rows where each is. Returns the bytes of the file; 0: none was needed. */
function copyContents ({ folder, store, limits }: TreeRequest, files: Array<[string, Row]>, { id, key }: TreeFile): number {
  const sealed = createSealedFile(store, { id, key })
  try {
    for (const [path, row] of files) {
      if (row.notKept !== undefined) continue
      const begin = sealed.position()
      const size = row.size
      const digest = readEntryOf(folder, path, row, limits.file, sealed.append)
      sealed.endContent()
      if (digest === undefined) Object.assign(row, { notKept: 'gone', size, digest: statDigest(folder, path) })
      else Object.assign(row, { digest, copy: { file: id, ...begin } })
      // What is empty needs no copy.
      if (row.size === 0) delete row.copy
    }
    return sealed.close()
  } catch (error) {
    sealed.discard()
    throw error
  }
}

function writeRecord (store: string, file: TreeFile, { at, rows, left, contents }: Tree): number {
  const sealed = createSealedFile(store, file)
  const text = JSON.stringify({ version: VERSION, at, left: [...left], contents, rows: [...rows] })
  try {
    sealed.append(Buffer.from(text))
    sealed.endContent()
    const bytes = sealed.close()
    // The names of both files are durable with their folder, which Windows cannot sync.
    if (process.platform !== 'win32') {
      const descriptor = openSync(store, O_RDONLY)
      try {
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
    }
    return bytes
  } catch (error) {
    sealed.discard()
    throw error
  }
}

/** Reads a record; undefined when it is gone or damaged. */
function readRecord (store: string, { id, key }: TreeFile): Tree | undefined {
  if (newest?.id === id) return newest.tree
  try {
    const { version, at, left, contents, rows } = JSON.parse(readSealedFile(store, { id, key }).toString())
    if (version !== VERSION) return undefined
    const tree: Tree = { at, left: new Set(left), contents, rows: new Map(rows) }
    newest = { id, tree }
    return tree
  } catch {
    return undefined
  }
}

/** Writes a sealed file, which is created with its first chunk. Contents begin at chunks, and only their last chunk is short. */
function createSealedFile (store: string, { id, key }: TreeFile) {
  const path = join(store, id)
  const secret = Buffer.from(key, 'base64')
  let descriptor: number | undefined
  let at = 0
  let chunk = 0
  let rest: Buffer[] = []
  let restBytes = 0

  function write (bytes: Buffer) {
    const sealed = sealChunk({ id, key: secret, chunk: chunk++ }, bytes)
    descriptor ??= openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    for (let done = 0; done < sealed.length;) done += writeSync(descriptor, sealed, done)
    at += sealed.length
  }
  const endContent = () => {
    if (restBytes > 0) write(Buffer.concat(rest))
    rest = []
    restBytes = 0
  }

  return {
    position: () => ({ at, chunk }),
    append (bytes: Buffer): void {
      for (let begin = 0; begin < bytes.length;) {
        const part = bytes.subarray(begin, begin + CHUNK_BYTES - restBytes)
        rest.push(part)
        restBytes += part.length
        begin += part.length
        if (restBytes === CHUNK_BYTES) endContent()
      }
    },
    endContent,
    close (): number {
      if (descriptor === undefined) return 0
      fsyncSync(descriptor)
      closeSync(descriptor)
      return at
    },
    discard (): void {
      if (descriptor === undefined) return
      closeSync(descriptor)
      rmSync(path, { force: true })
    }
  }
}

/** Reads a sealed file that holds one content. Throws when it is gone or damaged. */
function readSealedFile (store: string, { id, key }: TreeFile): Buffer {
  const sealed = readFileSync(join(store, id))
  const secret = Buffer.from(key, 'base64')
  const parts: Buffer[] = []
  for (let at = 0, chunk = 0; at < sealed.length; at += CHUNK_BYTES + TAG_BYTES, chunk++) {
    parts.push(openChunk({ id, key: secret, chunk }, sealed.subarray(at, at + CHUNK_BYTES + TAG_BYTES)))
  }
  return Buffer.concat(parts)
}
