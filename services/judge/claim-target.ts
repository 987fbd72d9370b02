import { lstat, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { readPath, shareOf } from '../lib/windows-path.ts'

/** How many characters of an input, and how many levels of nesting, are searched for a target. */
const INPUT_READ = 256 * 1024
const DEPTH = 8
const QUOTES = /^["'`“”‘’«»„<(]+|["'`“”‘’«»„>)]+$/gu
const LINK = /^\[[^\]]*\]\(([^)]*)\)$/u
const LINE_NUMBER = /(?<=\.\w{1,10}):\d+(?::\d+)?$/u
const GLOB = /[*?{]/

/**
 * Extracts the bare path from the forms that reports use: quoted, as a Markdown link, as a `file://` URL, or with a line number. Invalid
 * percent encoding in a URL stays as it is.
 */
function bareOf (text: string): string {
  const bare = text.normalize('NFC').trim().replace(LINK, '$1').replace(QUOTES, '').replace(LINE_NUMBER, '')
  if (!bare.startsWith('file://')) return bare
  // The slash before a drive letter belongs to the URL, not to the path.
  const path = bare.slice('file://'.length).replace(process.platform === 'win32' ? /^\/(?=[a-z](?::|%3a))/i : /^$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/**
 * Resolves a path against a folder. A text that is no path, or that names another computer, is turned into a
 * harmless name in the folder, so that it is never looked up.
 */
function placeOf (folder: string, path: string): string {
  const reading = readPath(path, folder)
  if ('path' in reading && (process.platform !== 'win32' || shareOf(reading.path) === shareOf(folder))) return reading.path
  return resolve(folder, path.replace(/[^\p{L}\p{N}]+/gu, '_'))
}

export type PathTarget = Awaited<ReturnType<typeof pathTarget>>

/**
 * The relation of a path to the target of a claim (an effect that a report says its run had): `same`, `inside` the target, or `around` it
 * (the path contains the target).
 */
export type Relation = 'same' | 'inside' | 'around'

/**
 * Creates the path target of a claim, relative to the working folder of the run. The target is compared only with
 * paths that calls named, and the file system is asked about no other path, because a model wrote the target.
 */
export async function pathTarget (text: string, cwd: string) {
  const real = await realpath(cwd).catch(() => cwd)
  const bare = bareOf(text)
  const path = bare === '~' || bare.startsWith('~/') ? join(homedir(), bare.slice(1)) : bare
  const isName = path !== '' && !path.includes('/') && !path.includes(sep) && path !== '.' && path !== '..'
  const given = resolve(cwd)
  const places = [placeOf(given, path), placeOf(real, path), ...belowNamed(real, path), ...belowNamed(given, path)]
  // The working folder can be a link, and a report can name files through that link.
  const throughLink = places.filter((place) => contains(given, place)).map((place) => join(real, relative(given, place)))
  const absolute = [...new Set([...places, ...throughLink].map((place) => place.normalize('NFC')))]
  const isWhole = absolute.some((place) => contains(place, resolve(cwd)) || contains(place, real))

  const from = (folder: string) => absolute.slice(0, 2).map((place) => relative(resolve(real, folder), place))

  /** Returns the relation of a path to the target; undefined if there is none. */
  async function relationOf (other: string): Promise<Relation | undefined> {
    const place = placeOf(real, other).normalize('NFC')
    if (absolute.includes(place) || (isName && basename(place) === path)) return 'same'
    if (!isWhole && absolute.some((target) => contains(target, place))) return 'inside'
    if (absolute.some((target) => contains(place, target))) return 'around'
    // On a file system that ignores case, both spellings name the same entry.
    for (const spelling of isName ? [join(dirname(place), path)] : absolute) {
      if (spelling.toLowerCase() === place.toLowerCase() && await isSameEntry(place, spelling)) return 'same'
    }
    return undefined
  }

  return {
    relationOf,
    /**
     * True if an input names the target, in any form that leads from `folder` to the target. A bare file name also counts after a folder.
     */
    isNamedIn: (input: unknown, folder = cwd) => {
      const text = textOfInput(input)
      const local = from(folder).filter((form) => form !== '' && !form.startsWith('..'))
      const spellings = new Set([path, ...local, ...local.map((form) => `./${form}`), ...absolute])
      return [...spellings].some((form) => mentions(text, form, { afterSlash: isName && form === path }))
    },
    /** True if the target text contains a path as a whole, for example in a list of several paths. */
    holds: (named: string) => mentions(bare, named.normalize('NFC'), { afterSlash: false }),
    /** Returns the absolute paths that the target can mean to a command that runs in the folder. */
    placesFrom: (folder: string) => [...new Set([absolute[0], placeOf(resolve(real, folder), path)])],
    /** True if the target is the working folder or contains it. Such a target identifies no file. */
    isWhole,
    /**
     * True if the target text is a glob pattern or a description: blanks or no Latin letter, and neither a separator nor a file extension.
     */
    isVague: GLOB.test(path) || (isName && !/\.[\p{L}\p{N}]{1,10}$/u.test(path) && (/\s/u.test(path) || !/[a-z]/i.test(path)))
  }
}

/** Resolves a path that begins with the name of the working folder or of a folder above. Returns the results within the working folder. */
function belowNamed (cwd: string, path: string): string[] {
  if (path === '') return []
  const found: string[] = []
  for (let above = dirname(cwd); above !== dirname(above); above = dirname(above)) {
    const place = placeOf(above, path)
    if (contains(cwd, place)) found.push(place)
  }
  return found
}

const contains = (folder: string, path: string) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep) || path === folder

async function isSameEntry (a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((path) => lstat(path, { bigint: true }).catch(() => undefined)))
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino
}

/** True if a path exists, even as a broken link. False if that cannot be found out. */
export const isThere = (path: string): Promise<boolean> => lstat(path).then(() => true, () => false)

/** Characters that continue a name in scripts with blanks. */
const IN_NAME = /[\p{L}\p{N}_-]/u
const WITHOUT_BLANKS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
const continues = (character: string) => IN_NAME.test(character) && !WITHOUT_BLANKS.test(character)

/**
 * True if a text contains a name as a whole: `rm notes.md` contains `notes.md`, `rm release-notes.md` does not.
 * `afterSlash`: the name can follow a slash.
 */
export function mentions (text: string, name: string, { afterSlash = true }: { afterSlash?: boolean } = {}): boolean {
  if (name === '') return false
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = text.charAt(at - 1)
    const after = text.charAt(at + name.length)
    const isBegun = continues(name.charAt(0)) && continues(before)
    const goesOn = continues(after) || (after === '.' && continues(text.charAt(at + name.length + 1)))
    const isContinued = continues(name.charAt(name.length - 1)) && goesOn
    if (!isBegun && !isContinued && before !== '.' && (afterSlash || before !== '/')) return true
  }
  return false
}

/** Returns all strings in an input as one text. */
export function textOfInput (input: unknown): string {
  const texts: string[] = []
  let left = INPUT_READ
  const read = (value: unknown, depth: number) => {
    if (left <= 0 || depth > DEPTH) return
    if (typeof value === 'string') {
      texts.push(value.slice(0, left))
      left -= value.length
    } else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) read(item, depth + 1)
  }
  read(input, 0)
  // Shell commands escape blanks in names.
  return texts.join('\n').normalize('NFC').replaceAll('\\ ', ' ')
}
