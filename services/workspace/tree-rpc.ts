import type { Item, Place } from './places.ts'
import type { SealedFile } from '../lib/sealed-file.ts'
import type { Units } from './whole-units.ts'

/** A folder for which records of its files are made, and how much of it is kept at most. */
export interface TreeRequest {
  /** Real path of the folder. */
  folder: string
  /** Real paths of the folders above whose .gitignore applies here, too, the outermost first. */
  parents: string[]
  /** Identities of the service's own files and folders, which are left out. */
  excluded: string[]
  /** The folder with the sealed files. */
  store: string
  /** The most paths of a tree, the most bytes of all its contents, and of one file. */
  limits: { paths: number, bytes: number, file: number }
}

export interface RecordRequest extends TreeRequest {
  /** The newest record of the folder. */
  last?: SealedFile
  /** The names of files to write if something is new; absent: nothing is written, and the answer says what a record would leave out. */
  next?: { record: SealedFile, contents: SealedFile }
}

/** Thrown if a folder has more paths or bytes than can be recorded or copied. */
export class Beyond extends Error {
  readonly limit: 'paths' | 'bytes'
  constructor (limit: 'paths' | 'bytes') {
    super(`too many ${limit}`)
    this.limit = limit
  }
}

/**
 * The answer of `takeFolder`: why no record can be made (`why`: the folder; `failed`: the disk), or the record. `leftOut` says which parts
 * of the folder are not kept; `written` is the size of the new files in bytes, absent if nothing was new.
 */
export type Recorded =
  | { why: string }
  | { failed: string }
  | { leftOut: string, contents: string[], written?: { record: number, contents: number } }

export interface CompareRequest extends TreeRequest {
  record: SealedFile
}

export interface Compared {
  /** The differences, by their paths; the content of `before` is in a file of `contents`. */
  differences: Item[]
  /** The git directories and databases that the differences name. */
  units: Units
  /** The keys of the files that `copy` names. */
  contents: Record<string, string>
  /** What was moved into the folder from places that are not recorded, relative to the folder: it is not among the differences. */
  strange: string[]
  /** Folders that could be read and cannot be read any more, relative to the folder: what is below them is not among the differences. */
  unseen: string[]
}

/** One path of a record: the data of the file system about it and, for a file, the digest and the position of its content. */
export interface Row {
  kind: 'file' | 'folder' | 'link' | 'other'
  mode: number
  ino: number
  /**
   * When the content, and when the status (ctime), last changed, in milliseconds since the Unix epoch. Nobody can set the second time. Both
   * are 0 for a folder.
   */
  modifiedAt: number
  changedAt: number
  /** When it was created, milliseconds since the Unix epoch; 0 if that is not known. */
  bornAt: number
  size: number
  /** The target of a link. */
  target?: string
  digest?: string
  copy?: { file: string, at: number, chunk: number }
  notKept?: 'too_large' | 'gone'
  /** True for a file that begins like a database of SQLite. */
  isDatabase?: true
  /** The text of a file `.git` or `commondir`. */
  leads?: string
  /** True for a folder that could not be listed. */
  isClosed?: true
}

/** What is at the paths of a folder; the paths are relative to it. */
export type States = Array<[path: string, row: Row]>

/** A folder, its clone, and the file that records the states of their paths when both were the same; all real paths. */
export interface Cloned {
  folder: string
  clone: string
  base: string
}

/** `folder` is the folder to clone. Neither the clone nor the file exists yet. */
export interface CloneRequest extends Cloned {
  limits: { paths: number, bytes: number }
}

/** The limit that the folder exceeds; or some of the paths that are not in the clone: mounts, special and unreadable files. */
export type ClonedTree = { beyond: 'paths' | 'bytes' } | { left: string[] }

export interface CompareCloneRequest extends Cloned {
  /** Which of the two is compared with its recorded state. */
  changed: 'folder' | 'clone'
  mostPaths: number
}

/** A path of a folder that differs from its recorded state; relative to the folder. */
export interface Difference {
  path: string
  /** What is there now, if anything. */
  row?: Row
  /** Whether the path is as recorded in the other folder: the clone of this one, or the folder that was cloned. */
  isOtherAsItWas: boolean
  /**
   * The state that the path must have in the other folder before it is changed there. Absent: its present state, if that is as recorded.
   */
  expected?: Place
}

export interface SettleCloneRequest extends Cloned {
  /** Paths that are the same in the folder and the clone, relative to the folder. */
  paths: string[]
  /** The states that were found in the folder; later changes are found the next time. Absent: the present states. */
  found?: States
  /** True if the changes were undone in the folder: the clone differs there. */
  isTakenBack?: boolean
}

/** The jobs on folders that a worker does, by kind. */
export interface FolderJobs {
  /** Records the content of a folder before a command. */
  takeFolder: { input: RecordRequest, output: Recorded }
  /** Finds what a command has changed in a folder. */
  diffFolder: { input: CompareRequest, output: Compared }
  /** Clones a folder. */
  cloneFolder: { input: CloneRequest, output: ClonedTree }
  /** Finds how a folder, or its clone, differs from its recorded state; undefined if there are too many paths. */
  compareClone: { input: CompareCloneRequest, output: Difference[] | undefined }
  /** Records that paths are the same in a folder and its clone. */
  settleClone: { input: SettleCloneRequest, output: null }
}

/** Runs jobs in a worker; `ms` is the time limit in milliseconds. Rejects if a job fails, and with the reason of the signal. */
export interface FolderWorker {
  run<K extends keyof FolderJobs>(
    kind: K,
    input: FolderJobs[K]['input'],
    options: { signal: AbortSignal, ms?: number }
  ): Promise<FolderJobs[K]['output']>
}
