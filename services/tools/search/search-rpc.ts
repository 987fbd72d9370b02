/** Which files are searched. */
interface Scope {
  /** Real path of the folder. */
  folder: string
  /** Searches this file of the folder alone, whatever .gitignore says. */
  file?: string
  /** Real paths of the folders above whose .gitignore holds here too, the outermost first. */
  parents: string[]
  /** Identities of files and folders that are left out, see `identityOf`. */
  excluded: string[]
  /** Matches found before are skipped, and so many are answered. */
  offset: number
  limit: number
}

export interface FilesRequest extends Scope {
  glob: string
}

/** The files of a folder that match a glob, with what tells a changed one apart. */
export interface ScanRequest extends Omit<FilesRequest, 'offset' | 'limit'> {
  /** Files, and folders, that may be looked at, whether they match or not. */
  most: number
  /** Folders that are named in the answer. */
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
    /** Those that cannot be read, in the same form. */
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
