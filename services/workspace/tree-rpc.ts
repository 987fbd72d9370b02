import type { Item } from './places.ts'
import type { Units } from './whole-units.ts'

/** A sealed file of a tree, see lib/sealed-chunks.ts: its name, and its key as base64. */
export interface TreeFile {
  id: string
  key: string
}

/** A folder that is known by a record of its files, and how much of it may be kept. */
export interface TreeRequest {
  /** Real path of the folder. */
  folder: string
  /** Real paths of the folders above whose .gitignore holds here too, the outermost first. */
  parents: string[]
  /** Identities of the service's own files and folders, which are left out. */
  excluded: string[]
  /** Where the sealed files are. */
  store: string
  /** Paths of a tree; bytes of all its contents, and of one. */
  limits: { paths: number, bytes: number, file: number }
}

export interface RecordRequest extends TreeRequest {
  /** The newest record of the folder. */
  last?: TreeFile
  /** Files to be written where something is new; absent: nothing is written, the answer says what a record would leave out. */
  next?: { record: TreeFile, contents: TreeFile }
}

/** What a record leaves out; folders and files relative to the folder. */
export interface LeftOut {
  /** Folders that .gitignore names, of packages, those on another mount, and unreadable ones; at most some, see `more`. */
  folders: string[]
  more: number
  /** Files that are too large for a copy, or cannot be read. */
  files: number
  /** Git directories of which a part is among them; '' for the folder itself. */
  repositories: string[]
}

/** A folder has more paths or bytes than may be known of it, or copied. */
export class Beyond extends Error {
  readonly limit: 'paths' | 'bytes'
  constructor (limit: 'paths' | 'bytes') {
    super(`too many ${limit}`)
    this.limit = limit
  }
}

/** A record was made, or the folder is too large. `written` says how many bytes the new files have; absent: all was known. */
export type Recorded =
  | { is: 'beyond', limit: 'paths' | 'bytes' }
  | { is: 'failed', reason: string }
  | { is: 'recorded', leftOut: LeftOut, contents: string[], written?: { record: number, contents: number } }

export interface CompareRequest extends TreeRequest {
  record: TreeFile
}

export interface Compared {
  /** By their paths; the content of `before` is in a file of `contents`. */
  differences: Item[]
  /** The git directories and databases that they name. */
  units: Units
  /** The keys of the files that `copy` names. */
  contents: Record<string, string>
  /** What came into the folder from where nothing is known of it, relative to the folder: it is not among the differences. */
  strange: string[]
  /** Folders that could be read and cannot any more, relative to the folder: what is below is not among the differences. */
  unseen: string[]
}

/** One path of a record. What the file system says of it, and for a file the digest and the place of its content. */
export interface Row {
  kind: 'file' | 'folder' | 'link' | 'other'
  mode: number
  dev: number
  ino: number
  /** Milliseconds since the Unix epoch of the last changes of content and of state, the second of which nobody can set; 0 of a folder. */
  modifiedAt: number
  changedAt: number
  /** When it was made, milliseconds since the Unix epoch; 0 where that is not known. */
  bornAt: number
  size: number
  /** Of a link. */
  target?: string
  digest?: string
  copy?: { file: string, at: number, chunk: number }
  notKept?: 'too_large' | 'gone'
  /** Of a file that begins as a database of SQLite does. */
  isDatabase?: true
  /** Of a file `.git` or `commondir`: its text. */
  leads?: string
  /** Of a folder that could not be listed. */
  isClosed?: true
}

/** What is at the paths of a folder, relative to it. */
export type States = Array<[path: string, row: Row]>

export interface CopyRequest {
  /** Real path of a folder, and that of its copy, which does not exist. */
  from: string
  to: string
  limits: { paths: number, bytes: number }
}

/** The states of a folder's paths, relative to it, and of their copies; or which limit it is beyond. */
export type CopiedTree = { beyond: 'paths' | 'bytes' } | {
  sources: States
  copies: States
  /** Some of what is not copied: mounts, special and unreadable files. */
  left: string[]
}

/** What is done to folders in a worker, by kind. */
export interface FolderJobs {
  /** What is in a folder before a command. */
  takeFolder: { input: RecordRequest, output: Recorded }
  /** What a command has changed there. */
  diffFolder: { input: CompareRequest, output: Compared }
  /** A copy of a folder. */
  cloneFolder: { input: CopyRequest, output: CopiedTree }
  /** What is in a folder. */
  listFolder: { input: { folder: string, mostPaths: number }, output: States | undefined }
}

/** Runs jobs in a worker; `ms`: the time limit, milliseconds. Rejects when a job fails, and with the reason of the signal. */
export interface FolderWorker {
  run<K extends keyof FolderJobs>(
    kind: K,
    input: FolderJobs[K]['input'],
    options: { signal: AbortSignal, ms?: number }
  ): Promise<FolderJobs[K]['output']>
}
