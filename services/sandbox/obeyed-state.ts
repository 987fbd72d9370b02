import { lstat, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { inForbidden } from './forbidden-folders.ts'
import { readSmall } from './read-small.ts'

// What programs obey in a working folder: it is looked at before a command and after it, and each time whole, by kind, device, inode and
// the time of the last change of state, which nobody can set. Contents are read of what may have to be put back alone.

/** Bytes of one file, and of all, that can be put back. */
const LARGEST_KEPT = 1024 ** 2
const MOST_KEPT = 16 * 1024 ** 2
/** Something that programs obey, or what decides what git obeys. */
export interface Entry {
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Tells whether it is the same, unchanged; of a folder whether it is one. */
  id: string
  mode: number
  /** Names that lead to it. */
  links: number
  /** Of a link. */
  target?: string
  /** Of a file, base64. Absent where there is too much. */
  content?: string
}

/** A folder that git takes for one of its directories. */
export interface GitDirectory {
  id: string
  /** Whether git takes it for one as it is. */
  isComplete: boolean
  /** What a stopped rebase, or another stopped operation, would start. */
  execs: string[]
  /** Ids of commits that it would bring. */
  resumes: string[]
  /** Ids of the newest commits of its branches, and of HEAD. */
  tips: string[]
  /** Those of stashes, the newest last. */
  stashes: string[]
  head: string
  /** Names of branches that a script may take for something else. */
  oddRefs: string[]
  /** Tells whether its index is the same, and what programs obey is staged there. */
  index: string
  staged: StagedFile[]
}

/** What programs obey, and is staged. */
export interface StagedFile {
  name: string
  blob: string
  mode: number
}

/** What hooks run of a package.json. */
export interface PackageUse {
  /** Parts that they name, whether these are there or not. */
  uses: string[]
  /** By the part and the name in it. */
  parts: Record<string, unknown>
}

export interface ObeyedState {
  folder: string
  /** The path at which commands find it. */
  seenAt: string
  /** The home whose settings hold there, and the folder of the files of a repository above. */
  home?: string
  top?: string
  /** Git directories outside of the folder that belong to it. */
  outside: string[]
  /** When the look began, milliseconds since the Unix epoch. */
  at: number
  /** By path. */
  entries: Map<string, Entry>
  gitDirectories: Map<string, GitDirectory>
  /** What is opened when somebody opens or enters a folder, the nearest first. */
  opens: string[]
  /** Places that settings of git and links name, whether something is there or not. */
  named: string[]
  /** Where links lead, beside those that are among the entries and those in folders of packages. */
  links: Map<string, string>
  /** What hooks run of files package.json. */
  packages: Map<string, PackageUse>
  /** The folders of files of each git directory. */
  tops: Map<string, string[]>
  /** Folders of keys. */
  keys: string[]
  /** The settings of a repository define programs that `.gitattributes` assigns to files. */
  hasDrivers: boolean
  /** Identities of folders whose name is not UTF-8: nothing is known of what is in them. */
  strange: string[]
  /** Nothing was left out. */
  isWhole: boolean
  /** What a check, during which the service was killed, began to put back: mostly paths. */
  begun?: string[]
}

/** A look that is under way. */
export interface Walk {
  known?: ObeyedState
  /** Contents are read, so that they can be put back. */
  isKept: boolean
  seen: { count: number, bytes: number, until: number, entries: number }
}

/** Returns what tells whether it is the same file or folder. */
export const identityOf = ({ dev, ino }: { dev: number | bigint, ino: number | bigint }): string => `${dev} ${ino}`

/** Adds what is at a path, if something is there. */
export async function addEntry (state: ObeyedState, path: string, { known, isKept, seen }: Walk): Promise<Entry | undefined> {
  const entry = await entryAt(path)
  if (entry === undefined) return undefined
  state.entries.set(path, entry)
  if (!isKept || entry.kind !== 'file') return entry
  const before = known?.entries.get(path)
  const content = before?.id === entry.id ? before.content : (await readSmall(path, LARGEST_KEPT, 'base64'))
  seen.bytes += content?.length ?? 0
  if (seen.bytes <= MOST_KEPT) entry.content = content
  return entry
}

/** Returns what is at a path, without its content; undefined for nothing. */
export async function entryAt (path: string): Promise<Entry | undefined> {
  const stat = await inForbidden([dirname(path)], () => lstat(path, { bigint: true })).catch(() => undefined)
  if (stat === undefined) return undefined
  const mode = Number(stat.mode) & 0o777
  if (stat.isDirectory()) return { kind: 'folder', id: 'folder', mode, links: 1 }
  const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other'
  const target = kind === 'link' ? await readlink(path).catch(() => '') : undefined
  return { kind, id: `${stat.dev} ${stat.ino} ${stat.ctimeNs}`, mode, links: Number(stat.nlink), target }
}
