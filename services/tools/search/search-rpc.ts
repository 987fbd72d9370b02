/** The files that a search covers, and the range of matches to return. */
interface Scope {
  /** The real path of the searched folder. */
  folder: string
  /** If set, only this file in the folder is searched, even if it is ignored. */
  file?: string
  /** The real paths of the folders above whose .gitignore also applies, outermost first. */
  parents: string[]
  /** The identities of files and folders that are skipped, see `identityOf`. */
  excluded: string[]
  /** The number of matches to skip, and the most to return. */
  offset: number
  limit: number
}

export interface FilesRequest extends Scope {
  glob: string
}

/** A request for the files that match a glob, with the size and time by which a change of a file is noticed. */
export interface ScanRequest extends Omit<FilesRequest, 'offset' | 'limit'> {
  /** The most files, and the most folders, that are visited, whether they match or not. */
  most: number
  /** The most folders that the answer lists. */
  mostFolders: number
}

/** A file's path relative to the folder, its size in bytes, and its modification time in epoch milliseconds. */
export type ScannedFile = [path: string, size: number, modifiedAt: number]

export type Scanned =
  | { is: 'beyond' }
  | { is: 'closed' }
  | {
    is: 'scanned'
    files: ScannedFile[]
    /** The first `mostFolders` folders below, as relative paths that end with `/`. */
    folders: string[]
    hasMoreFolders: boolean
    /** The folders that cannot be read, as relative paths that end with `/`. */
    closed: string[]
  }

export interface LinesRequest extends Scope {
  /** A regular expression, in any dialect that translatePattern accepts. */
  pattern: string
  caseSensitive: boolean
  glob?: string
  /** The number of lines shown before and after each match. */
  context: number
}

export interface MatchedLine {
  /** The path of the file, relative to the folder, with `/`. */
  path: string
  /** The number of the line, from 1. */
  line: number
  /** The line, or all lines of a match that spans several. Long lines are cut. */
  text: string
  before?: string[]
  after?: string[]
}

/** How far a search got. */
interface Ended {
  /** True if there might be more matches than those returned. */
  hasMore: boolean
  /** The path at which the time was up. The rest was not searched. */
  endedAt?: string
}

export interface FoundLines extends Ended {
  matches: MatchedLine[]
  searched: number
  /** The number of files that were not searched, because they are not text, too large or not readable. */
  skipped: number
}

export interface FoundFiles extends Ended {
  /** Paths relative to the folder, with `/`. The paths of folders end with `/`. */
  paths: string[]
}
