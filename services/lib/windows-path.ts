import { resolve } from 'node:path'

/**
 * The absolute path that a path stands for, derived from its text alone; or the reason why it stands for none, as the end of a sentence
 * that begins with the path.
 */
type PathReading = { path: string } | { refused: string }

/** The root of a path, which `..` does not leave, such as `C:\`, and the names behind it. */
interface Parts {
  root: string
  names: string[]
}

/** Returns the absolute path that the system reads in a path, relative to a folder. */
export function readPath (path: string, cwd: string, platform: NodeJS.Platform = process.platform): PathReading {
  return platform === 'win32' ? readWindowsPath(path, cwd) : { path: resolve(cwd, path) }
}

/**
 * Returns the absolute path that Windows reads in a path, relative to an absolute folder. Refuses a path that programs read in different
 * ways. Node passes paths to the system in their long form (`\\?\`), in which `a.txt.` and `NUL` are names of files, while Explorer,
 * cmd.exe and most programs would open `a.txt`, and a device. Then the path that is shown would not be the file that is written.
 * https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file, …/dotnet/standard/io/file-path-formats
 */
export function readWindowsPath (path: string, cwd: string): PathReading {
  const start = readStart(path)
  if ('refused' in start) return start
  const from = start.root === undefined ? readStart(cwd) : undefined
  if (from !== undefined && ('refused' in from || from.root === undefined)) {
    return { refused: 'is relative to a folder whose path cannot be read' }
  }
  const base: Parts = from === undefined
    ? { root: start.root!, names: [] }
    : { root: from.root!, names: start.isFromRoot ? [] : withoutDots(from.names) }
  const names = [...base.names]
  for (const name of start.names) {
    if (name === '..') names.pop()
    if (name === '..' || name === '.') continue
    const problem = nameProblem(name)
    if (problem !== undefined) return { refused: problem }
    names.push(name)
  }
  return { path: base.root + names.join('\\') }
}

/** Returns the computer and the share of a network path, in lower case; undefined for a path of a drive. */
export function shareOf (path: string): string | undefined {
  const start = readStart(path)
  return 'refused' in start || !start.root?.startsWith('\\\\') ? undefined : start.root.toLowerCase()
}

type Start = { root?: string, isFromRoot?: boolean, names: string[] } | { refused: string }

const LONG_FORM = /^\\\\\?\\(?:UNC\\|(?=[a-z]:\\))/i
const DEVICE = { refused: 'names a device in the form of Windows itself: give a path that begins with a drive, such as C:\\' }

/**
 * Splits a path into its beginning and the rest. Without `root` it is relative to a folder, or with `isFromRoot` to the root of that
 * folder's drive.
 */
function readStart (given: string): Start {
  const path = given.replaceAll('/', '\\')
  if (path.startsWith('\\\\?\\')) {
    // The form in which programs in Rust and .NET write paths. In it, forward slashes and dots are parts of names.
    if (!LONG_FORM.test(path)) return DEVICE
    if (given.includes('/') || /\\\.{1,2}(?:\\|$)/.test(path)) return { refused: 'begins with \\\\?\\, behind which / and dots are names' }
    return readStart(path.replace(LONG_FORM, (prefix) => /unc/i.test(prefix) ? '\\\\' : ''))
  }
  if (/^\\\\[.?]/.test(path) || path.startsWith('\\??\\')) return DEVICE
  if (path.startsWith('\\\\')) {
    const [, computer, share, rest = ''] = /^\\\\([^\\]+)\\+([^\\]+)(?:\\(.*))?$/s.exec(path) ?? []
    if (computer === undefined) return { refused: 'begins like a network path, but names no computer and share' }
    const problem = computer.includes(':') ? 'holds ":" in the name of a computer' : nameProblem(share)
    return problem === undefined ? { root: `\\\\${computer}\\${share}\\`, names: namesOf(rest) } : { refused: problem }
  }
  const [, drive, behind] = /^([a-z]):(.*)$/is.exec(path) ?? []
  if (drive !== undefined) {
    const root = `${drive.toUpperCase()}:\\`
    if (behind.startsWith('\\')) return { root, names: namesOf(behind) }
    return { refused: `is relative to a folder that each program has of its own on that drive: write ${root}` }
  }
  return path.startsWith('\\') ? { isFromRoot: true, names: namesOf(path) } : { names: namesOf(path) }
}

const namesOf = (path: string): string[] => path.split('\\').filter((name) => name !== '')

function withoutDots (names: readonly string[]): string[] {
  const kept: string[] = []
  for (const name of names) {
    if (name === '..') kept.pop()
    else if (name !== '.') kept.push(name)
  }
  return kept
}

// eslint-disable-next-line no-control-regex
const NOT_IN_NAMES = /[\u0000-\u001f<>"|?*]/
/**
 * Names of devices. Older versions of Windows read them as devices also with an extension and in every folder; newer ones still do so for
 * some.
 */
const DEVICES = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³])$/i

/** Returns why Windows, or a program on it, would not read a name as the file of that name; undefined if all do. */
function nameProblem (name: string): string | undefined {
  const shown = JSON.stringify(name)
  if (name.includes(':')) return `holds ":" in ${shown}, where Windows reads the name of a drive or of a hidden stream of a file`
  const [character] = NOT_IN_NAMES.exec(name) ?? []
  if (character !== undefined) return `holds ${JSON.stringify(character)} in ${shown}: no name on Windows has that character`
  if (/[. ]$/.test(name)) return `has a dot or blank at the end of ${shown}, which most programs on Windows leave out: write it without`
  if (DEVICES.test(name.split('.', 1)[0].trimEnd())) return `holds ${shown}, which is a device on Windows: choose another name`
  return undefined
}

/** True if a name might be the short name that Windows gives a long one, such as `GIT~1` for `.git`. */
export const isShortName = (name: string): boolean => /^(?=[^.]{2,8}(?:\.|$))[^.]*~\d{1,6}(?:\.[^.]{0,3})?$/.test(name)

/** Returns a path in the form that all spellings of the same place share, by the usual case rules of the system's file systems. */
export const foldCase = (path: string, platform: NodeJS.Platform = process.platform): string =>
  platform === 'win32' || platform === 'darwin' ? path.normalize('NFC').toLowerCase() : path
