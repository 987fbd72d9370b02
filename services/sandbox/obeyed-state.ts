import { lstat, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { inForbidden } from './forbidden-folders.ts'
import { readSmall } from './read-small.ts'

// The state of what programs obey in a working folder, which means that they act on it by themselves: git settings, hooks, editor settings.
// Each look, before and after a command, covers all of it. Files are compared by kind, device, inode and the time of the last status change
// (ctime), which nobody can set. Only contents that might have to be put back are read.

/** The most bytes of one file, and of all files together, that are kept so that they can be put back. */
const LARGEST_KEPT = 1024 ** 2
const MOST_KEPT = 16 * 1024 ** 2
/** A file, folder or link that programs obey (act on by themselves), or that decides what git obeys. */
export interface Entry {
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Device, inode and ctime: they are the same if nothing changed. All folders have the same id. */
  id: string
  mode: number
  /** The number of hard links. */
  links: number
  /** Links only: the path that the link contains. */
  target?: string
  /** Files only: the content in base64. Absent if there is too much to keep. */
  content?: string
}

/** The state of a git directory, which can be incomplete. */
export interface GitDirectory {
  id: string
  /** True if git takes the folder for a git directory as it is: it has a HEAD. */
  isComplete: boolean
  /** Programs and unsafe options that a stopped rebase, or another stopped operation, would use when it continues. */
  execs: string[]
  /** Ids of commits that a stopped operation would bring into the folder. */
  resumes: string[]
  /** Ids of the newest commits of its branches, of HEAD, and of its stashes. */
  tips: string[]
  /** Ids of its stashes, the newest last. */
  stashes: string[]
  head: string
  /** Names of references that a script might take for a command or an option. */
  oddRefs: string[]
  /** A text that changes with the index, and the obeyed files (hooks, editor settings, git attributes) that are staged in the index. */
  index: string
  staged: StagedFile[]
}

/**
 * A file that programs obey (act on by themselves), in the index or in a commit: its path in the repository, the id of its content, and its
 * mode.
 */
export interface StagedFile {
  name: string
  blob: string
  mode: number
}

/** The parts of one package.json that hooks run. */
export interface PackageUse {
  /** The parts that hooks name, such as `scripts.test`, whether they exist or not. */
  uses: string[]
  /** The values of the parts, by the same names. */
  parts: Record<string, unknown>
}

export interface ObeyedState {
  folder: string
  /** The path at which commands see the folder. */
  seenAt: string
  /** The home whose git settings apply to the folder, and the work tree of the repository above the folder. */
  home?: string
  top?: string
  /** Git directories outside of the folder that belong to it. */
  outside: string[]
  /** When the look began, milliseconds since the Unix epoch. */
  at: number
  /** By path: what programs obey, and the git directories. */
  entries: Map<string, Entry>
  gitDirectories: Map<string, GitDirectory>
  /** Paths that programs act on when somebody opens or enters a folder, the nearest first. */
  opens: string[]
  /** Paths that git settings, scripts and links name, also those at which nothing exists. */
  named: string[]
  /** The target of each link, by path, except links that are among the entries and links in folders of packages. */
  links: Map<string, string>
  /** The parts of package.json files that hooks run, by path. */
  packages: Map<string, PackageUse>
  /** The work trees of each git directory, by its path. */
  tops: Map<string, string[]>
  /** Paths of folders with keys. */
  keys: string[]
  /** True if the settings of a repository define programs that `.gitattributes` assigns to files. */
  hasDrivers: boolean
  /** Identities of folders whose name is not UTF-8. Their contents are not known. */
  strange: string[]
  /** True if the look left nothing out. */
  isWhole: boolean
  /** What a check began to put back when the service was killed: mostly paths. */
  begun?: string[]
}

/** A look that is under way. */
export interface Walk {
  known?: ObeyedState
  /** True if contents are read, so that they can be put back. */
  isKept: boolean
  seen: { count: number, bytes: number, until: number, entries: number }
}

/** Returns a text that is the same as long as the path holds the same file or folder. */
export const identityOf = ({ dev, ino }: { dev: number | bigint, ino: number | bigint }): string => `${dev} ${ino}`

/** Adds the entry at a path to the state, and returns the entry; undefined if nothing is there. */
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

/** Returns the entry at a path, without its content; undefined if nothing is there. */
export async function entryAt (path: string): Promise<Entry | undefined> {
  const stat = await inForbidden([dirname(path)], () => lstat(path, { bigint: true })).catch(() => undefined)
  if (stat === undefined) return undefined
  const mode = Number(stat.mode) & 0o777
  if (stat.isDirectory()) return { kind: 'folder', id: 'folder', mode, links: 1 }
  const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other'
  const target = kind === 'link' ? await readlink(path).catch(() => '') : undefined
  return { kind, id: `${stat.dev} ${stat.ino} ${stat.ctimeNs}`, mode, links: Number(stat.nlink), target }
}
