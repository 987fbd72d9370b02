import { lstatSync, readdirSync, type Dirent, type Stats } from 'node:fs'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { decodeText, detectEncoding } from '../files/text-encoding.ts'
import { isCredential } from '../../lib/credentials.ts'
import { jsonBytes } from '../../lib/json.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { FITTING_BYTES } from '../model-output.ts'
import {
  entryOf,
  type HeldFolder,
  holdFolder,
  holdSubfolder,
  identityOfHeld,
  type IgnoreRules,
  ignoreText,
  isIgnored,
  KERNEL_FOLDERS,
  prefixOf,
  readEntry,
  release,
  rulesAbove,
  rulesOfExclude,
  rulesInside,
  withRules
} from '../../workspace/index.ts'
import { compilePattern, linesMatching, type LineMatch } from './line-pattern.ts'
import type { FoundLines, LinesRequest, MatchedLine, FilesRequest, FoundFiles, Scanned, ScannedFile, ScanRequest } from './search-rpc.ts'

/** How long a search runs, in milliseconds, before it ends with what it has found. Shorter than the time limit of the worker. */
const SEARCH_MS = 8_000

/** Starts the clock of a search. The returned function returns true once the time is up. */
function startSearch (): () => boolean {
  const started = performance.now()
  return () => performance.now() - started > SEARCH_MS
}

/** The largest file that is searched, in bytes. */
const FILE_BYTES = 16 * 1024 * 1024
/** The most characters of a line that are shown, and in a longer line, how many of them precede the match. */
const LINE_CHARS = 300
const BEFORE_CHARS = 100
/** The most lines that are shown of a match that spans several lines. */
const SPANNED_LINES = 20

/** Finds the lines that match a pattern in the files below a folder. Runs in the worker, which is ended if the pattern takes too long. */
export function findLines (request: LinesRequest): FoundLines {
  const { pattern, caseSensitive, glob, context, offset, limit } = request
  const isTimeUp = startSearch()
  const compiled = compilePattern(pattern.normalize('NFC'), caseSensitive)
  const hasAccents = !isAscii(pattern)
  const isWanted = glob === undefined ? () => true : createGlobFilter(glob)
  const found: FoundLines = { matches: [], searched: 0, skipped: 0, hasMore: false }
  let toSkip = offset
  let room = FITTING_BYTES
  for (const { path, kind, read } of walk(request)) {
    if (isTimeUp()) return { ...found, hasMore: true, endedAt: path }
    if (kind !== 'file' || !isWanted(path)) continue
    const bytes = read(FILE_BYTES)
    const encoding = bytes && detectEncoding(bytes)
    if (encoding === undefined) {
      found.skipped++
      continue
    }
    found.searched++
    // Most files do not match. Checking the bytes saves decoding these files, which is the slow part.
    if (compiled.contained !== undefined && !encoding.startsWith('utf-16') && !bytes!.includes(compiled.contained)) continue
    const text = decodeText(bytes!, encoding)
    const composed = hasAccents ? text.normalize('NFC') : text
    const place = composed === text ? (match: LineMatch) => match : createLinePlacer(text)
    for (const match of linesMatching(composed, compiled)) {
      if (toSkip-- > 0) continue
      const shown = matchedLine(path, text, place(match, composed), context)
      room -= jsonBytes(shown)
      if (found.matches.length === limit || (room < 0 && found.matches.length > 0)) return { ...found, hasMore: true }
      found.matches.push(shown)
    }
  }
  return found
}

// eslint-disable-next-line no-control-regex
const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text)

/**
 * Returns a function that converts a match in the composed form (NFC) of a text to its place in the text itself, line by line. A file can
 * store an accent as a separate character, while people and models write a composed character. Matches must come in the order of their
 * lines.
 */
function createLinePlacer (text: string): (match: LineMatch, composed: string) => LineMatch {
  let line = 1
  let start = 0
  const endFrom = (at: number) => {
    const newline = text.indexOf('\n', at)
    return newline === -1 ? text.length : newline
  }
  return (match, composed) => {
    for (; line < match.line; line++) start = endFrom(start) + 1
    const lines = composed.slice(match.start, match.end).split('\n').length
    let end = endFrom(start)
    for (let more = 1; more < lines; more++) end = endFrom(end + 1)
    return { line, start, end, at: Math.min(end, start + match.at - match.start) }
  }
}

function matchedLine (path: string, text: string, { line, start, end, at }: LineMatch, context: number): MatchedLine {
  const own = text.slice(start, end).replaceAll('\r\n', '\n').replace(/\r$/, '').split('\n')
  const before: string[] = []
  for (let to = start; to > 0 && before.length < context;) {
    // lastIndexOf takes a negative position for 0, where an empty first line has its line end.
    const from = to === 1 ? 0 : text.lastIndexOf('\n', to - 2) + 1
    before.unshift(cutLine(text.slice(from, to - 1)))
    to = from
  }
  const after: string[] = []
  for (let from = end + 1; from < text.length && after.length < context;) {
    const newline = text.indexOf('\n', from)
    const to = newline === -1 ? text.length : newline
    after.push(cutLine(text.slice(from, to)))
    from = to + 1
  }
  const lines = own.slice(0, SPANNED_LINES).map((each, row) => cutLine(each, row === 0 ? at - start : 0))
  if (own.length > lines.length) lines.push(`… (${own.length - lines.length} more lines)`)
  return { path, line, text: lines.join('\n'), ...context > 0 && { before, after } }
}

/** Returns a line or, if it is long, the part around position `at`, with … where characters are left out. */
function cutLine (whole: string, at = 0): string {
  const line = whole.replace(/\r$/, '')
  if (line.length <= LINE_CHARS) return line
  const from = Math.max(0, Math.min(at - BEFORE_CHARS, line.length - LINE_CHARS))
  const to = from + LINE_CHARS
  return `${from > 0 ? '…' : ''}${line.slice(from, to).toWellFormed()}${to < line.length ? '…' : ''}`
}

/** Finds the files and links below a folder that match a glob; if the glob ends with `/`, the folders. Runs in the worker. */
export function findPaths (request: FilesRequest): FoundFiles {
  const { glob, offset, limit } = request
  const isTimeUp = startSearch()
  const wantsFolders = glob.endsWith('/')
  const matches = createGlobFilter(wantsFolders ? glob.slice(0, -1) : glob)
  const paths: string[] = []
  let toSkip = offset
  let room = FITTING_BYTES
  for (const { path, kind } of walk(request)) {
    if (isTimeUp()) return { paths, hasMore: true, endedAt: path }
    if ((kind === 'folder') !== wantsFolders || !matches(wantsFolders ? path.slice(0, -1) : path)) continue
    if (toSkip-- > 0) continue
    room -= jsonBytes(path)
    if (paths.length === limit || room < 0) return { paths, hasMore: true }
    paths.push(path)
  }
  return { paths, hasMore: false }
}

/**
 * Returns a function that tests whether a path relative to the searched folder matches a glob. A glob without `/` is compared with the last
 * name of the path, as in .gitignore and most editors. Paths and globs contain `/` on Windows, too; there case is ignored.
 */
export function createGlobFilter (glob: string, platform: NodeJS.Platform = process.platform): (path: string) => boolean {
  const matchesComposed = picomatch(glob.normalize('NFC'), { dot: true, windows: false, nocase: platform === 'win32' })
  const matches = (path: string) => matchesComposed(path.normalize('NFC'))
  return glob.replace(/\/$/, '').includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/', path.length - 2) + 1))
}

/**
 * Lists the files below a folder that match a glob, with size and modification time. The case of file extensions is ignored: `*.jpg`
 * matches IMG_1.JPG. Symbolic links are neither followed nor listed. Returns `beyond` once more than `most` files, or more than `most`
 * folders, were visited. Runs in the worker. Throws if the folder cannot be opened.
 */
export function scanFiles ({ glob, most, mostFolders, ...scope }: ScanRequest): Scanned {
  const matches = createGlobFilter(withSmallExtension(glob))
  const files: ScannedFile[] = []
  const folders: string[] = []
  const closed: string[] = []
  const seen = { file: 0, folder: 0 }
  for (const { path, kind, stat } of walk(scope, (folder) => void closed.push(folder))) {
    if (kind === 'link') continue
    if (++seen[kind] > most) return { is: 'beyond' }
    if (kind === 'folder') {
      if (folders.length < mostFolders) folders.push(path)
      continue
    }
    if (!matches(withSmallExtension(path))) continue
    const found = stat()
    if (found?.isFile()) files.push([path, found.size, found.mtimeMs])
  }
  if (closed.includes('')) return { is: 'closed' }
  return { is: 'scanned', files, folders, hasMoreFolders: seen.folder > folders.length, closed }
}

const withSmallExtension = (path: string): string => path.replace(/\.[^./]*$/, (extension) => extension.toLowerCase())

/** A file or link that was found, or a folder, whose path ends with '/'. */
interface Found {
  /** The path relative to the searched folder, with '/'. */
  path: string
  kind: 'file' | 'link' | 'folder'
  /** Returns the bytes of a file; undefined if the file is larger than `mostBytes`, or cannot be read, or must not be read. */
  read(mostBytes: number): Buffer | undefined
  /** Returns the stats of the entry; undefined if it is gone, or for a folder. */
  stat(): Stats | undefined
}

/** The folders of version control systems. */
const REPOSITORIES = new Set(['.git', '.hg', '.svn', '.jj'])
/** The most levels that are visited. The folders down to the current one are held open, so their number must be bounded. */
const DEEPEST = 100

/**
 * Yields everything below a folder that is not ignored, sorted by name within each folder. Symbolic links are yielded but not followed.
 * `closed` is called with each folder that cannot be read, and with '' for the searched folder. Throws if that folder cannot be opened.
 */
function * walk (
  { folder, file, parents, excluded }: Omit<FilesRequest, 'glob' | 'offset' | 'limit'>,
  closed: (path: string) => void = () => {}
): Generator<Found> {
  const own = new Set(excluded)
  const isExcluded = (identity: string) => own.has(identity)
  // Files with keys and credentials are searched only if the search begins in their folder; that call needs an approval.
  const isHidden = (path: string) => isCredential(path) && !isCredential(folder)
  const root = holdFolder(folder)
  if (root === undefined) throw new Error('the folder was moved or replaced while it was used')
  try {
    if (file !== undefined) return yield found(root, file, 'file', file)
    const top = parents[0] ?? folder
    yield * entries(root, '', prefixOf(top, folder), rulesAbove(parents, folder, rulesOfExclude(top)), 0)
  } finally {
    release(root)
  }

  function * entries (held: HeldFolder, path: string, fromTop: string, outer: IgnoreRules, depth: number): Generator<Found> {
    const listed = sortedEntries(held)
    const text = ignoreText(held, listed?.map(({ name }) => name) ?? [])
    const rules = withRules(fromTop === '' ? outer : rulesInside(outer, fromTop), fromTop, text)
    if (listed === undefined) closed(path)
    for (const entry of listed ?? []) {
      const { name } = entry
      if (REPOSITORIES.has(foldCase(name))) continue
      if (isHidden(join(held.path, name))) continue
      const isFolder = entry.isDirectory()
      if (isIgnored(rules, `${fromTop}${name}${isFolder ? '/' : ''}`)) continue
      if (!isFolder) {
        const kind = entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : undefined
        if (kind !== undefined) yield found(held, name, kind, path + name)
        continue
      }
      if (depth === DEEPEST || KERNEL_FOLDERS.includes(join(held.path, name))) continue
      const inner = holdSubfolder(held, name)
      if (inner === undefined) {
        closed(`${path}${name}/`)
        continue
      }
      try {
        if (isExcluded(identityOfHeld(inner))) continue
        yield { path: `${path}${name}/`, kind: 'folder', read: () => undefined, stat: () => undefined }
        yield * entries(inner, `${path}${name}/`, `${fromTop}${name}/`, rules, depth + 1)
      } finally {
        release(inner)
      }
    }
  }

  function found (held: HeldFolder, name: string, kind: Found['kind'], path: string): Found {
    return {
      path,
      kind,
      read: (mostBytes) => kind === 'file' ? readEntry(held, name, mostBytes, isExcluded) : undefined,
      stat: () => lstatSync(entryOf(held, name), { throwIfNoEntry: false })
    }
  }
}

/** Returns the entries of a folder, sorted by name; undefined if the folder cannot be listed. */
function sortedEntries (folder: HeldFolder): Dirent[] | undefined {
  try {
    return readdirSync(entryOf(folder, '.'), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1)
  } catch {
    return undefined
  }
}
