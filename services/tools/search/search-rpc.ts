/** Which files are searched. */
interface Scope {
  /** Real path of the folder. */
  folder: string
  /** Only this file of the folder is searched, whatever .gitignore says. */
  file?: string
  /** Real paths of the folders above whose .gitignore also applies here, the outermost first. */
  parents: string[]
  /** Identities of files and folders that are skipped, see `identityOf`. */
  excluded: string[]
  /** The number of matches to skip, and the number to return. */
  offset: number
  limit: number
}

export interface FilesRequest extends Scope {
  glob: string
}

/** A search for files that match a glob, with the data that reveals a change of each. */
export interface ScanRequest extends Omit<FilesRequest, 'offset' | 'limit'> {
  /** The most files, and folders, that may be visited, whether they match or not. */
  most: number
  /** The most folders that the answer names. */
  mostFolders: number
}

/** Path relative to the folder, bytes, and the time of the last change of the content in milliseconds since the Unix epoch. */
export type ScannedFile = [path: string, size: number, modifiedAt: number]

export type Scanned =
  | { is: 'beyond' }
  | { is: 'closed' }
  | {
    is: 'scanned'
    files: ScannedFile[]
    /** The folders below, relative, with `/` at the end; the first `mostFolders`. */
    folders: string[]
    hasMoreFolders: boolean
    /** Folders that cannot be read, in the same form. */
    closed: string[]
  }

export interface LinesRequest extends Scope {
  /** A regular expression of JavaScript. */
  pattern: string
  caseSensitive: boolean
  glob?: string
  /** Lines shown before and after each match. */
  context: number
}

export interface MatchedLine {
  /** Path of the file, relative to the folder, with `/`. */
  path: string
  /** Number of the line, from 1. */
  line: number
  /** The line, or the lines of a match that spans some; cut when they are long. */
  text: string
  before?: string[]
  after?: string[]
}

/** How a search ended. */
interface Ended {
  /** There are more matches than were asked for. */
  hasMore: boolean
  /** The file at which the time was up; what follows was not searched. */
  endedAt?: string
}

export interface FoundLines extends Ended {
  matches: MatchedLine[]
  searched: number
  /** Files that were not searched: not text, too large, or not readable. */
  skipped: number
}

export interface FoundFiles extends Ended {
  /** Paths relative to the folder, with `/`; those of folders end with `/`. */
  paths: string[]
}
