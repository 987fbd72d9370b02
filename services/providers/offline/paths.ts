import { MARK, type Marked } from './quotes.ts'

/** The file and folder that the message named before, to which "it" and "that folder" refer. */
export interface Known {
  file?: string
  folder?: string
}

/** A path read from a phrase. */
export interface PathPhrase {
  path: string
  /** Whether the phrase says that it is a folder, by a word or a trailing slash. */
  folder: boolean
  /** Whether the phrase can only be a path: it is quoted or contains a dot or a slash. */
  plainly: boolean
}

const LEADING =
  /^(?:(?:the|an?|my|our|your|this|that|whole|entire|complete|full|new|empty|existing|local|text|plain|file|files|folder|folders|directory|directories|dir|document|path|sub-?folder|sub-?directory|contents? of|called|named|titled|both|with the name|at)(?::\s*|\s+))/i
const TRAILING = /\s+(?:(?:text )?file|files|folder|folders|directory|directories|dir|document|sub-?folder|sub-?directory)$/i
const FOLDER = /\b(?:folders?|director(?:y|ies)|dir|sub-?folder|sub-?directory)\b/i
const HERE =
  /^(?:here|pwd|cwd|(?:(?:the|this|my|our|your|that)\s+)?(?:(?:current|present|working|root|whole|entire)\s+)*(?:folder|directory|dir|workspace|project|repo|repository|location|place)(?:\s+(?:i am|i'm|you are|we are) in)?)$/i
const PRONOUN =
  /^(?:it|that|this|them|that one|(?:its|the) contents?|the result|(?:the|that|this|the same|the new|that same|said) (?:new )?(?:file|document))$/i
const FOLDER_PRONOUN = /^(?:there|(?:the|that|the same|that same|said) (?:folder|directory))$/i
const NO_NAME =
  /^(?:everything|all|anything|nothing|something|files?|folders?|director(?:y|ies)|documents?|stuff|things?|one|some|me|you|us|contents?)$/i
const JOINED = /^(.+?)\s+(?:in|inside|under|within|from)\s+(.+)$/i
const FUNCTION_WORD =
  /(?:^|\s)(?:if|but|not|and|or|of|that|which|with|without|when|unless|until|after|before|is|are|was|it|to|for|except)(?:\s|$)/i
const ONE_MARK = new RegExp(`^${MARK}$`)

/** Reads a phrase that names a file or folder; undefined when it is not certain that it names one. */
export function readPath (
  marked: Marked,
  phrase: string,
  { known = {}, here = true }: { known?: Known, here?: boolean } = {}
): PathPhrase | undefined {
  let rest = phrase.trim().replace(/(?:\s+|^)(?:right )?(?:again|back|out|aloud|too|as well|now|please|for me|to me)(?=[\s.!?]*$)/gi, '')
    .trim()
  if (new RegExp(`^${MARK}[.,;:!?]*$`).test(rest)) rest = rest.replace(/[.,;:!?]+$/, '')
  if (ONE_MARK.test(rest)) return given(marked.unquoted(rest), false, true)
  const sentence = rest.replace(/[.,;:!?]+$/, '')
  if (known.folder !== undefined && FOLDER_PRONOUN.test(sentence)) return given(known.folder, true, true)
  if (PRONOUN.test(sentence)) return given(known.file ?? known.folder ?? '', known.file === undefined, true)
  if (HERE.test(sentence)) return here ? given('.', true, false) : undefined

  const joined = JOINED.exec(rest.replace(/\s+(?:(?:from|in) )?there$/i, known.folder === undefined ? '$&' : ' in that folder'))
  if (joined) {
    const name = readPath(marked, joined[1], { known, here: false })
    const folder = readPath(marked, joined[2], { known })
    if (name && folder && !/^(?:\/|~|[a-z]:)/i.test(name.path)) {
      return given(folder.path === '.' ? name.path : `${folder.path.replace(/[/\\]+$/, '')}/${name.path}`, name.folder, name.plainly)
    }
  }

  let folder = false
  for (let found = LEADING.exec(rest); found && rest.length > found[0].length; found = LEADING.exec(rest)) {
    folder ||= FOLDER.test(found[0])
    rest = rest.slice(found[0].length).trim()
  }
  const noun = TRAILING.exec(rest.replace(/[.,;:!?]+$/, ''))
  if (noun) {
    folder ||= FOLDER.test(noun[0])
    rest = rest.slice(0, noun.index).trim()
  }
  if (new RegExp(`${MARK}[.,;:!?]+$`).test(rest)) rest = rest.replace(/[.,;:!?]+$/, '')
  if (ONE_MARK.test(rest)) return given(marked.unquoted(rest), folder, true)
  rest = withoutPunctuation(rest)
  if (!rest || PRONOUN.test(rest) || FOLDER_PRONOUN.test(rest) || NO_NAME.test(rest)) return undefined
  // Several unquoted words are a path only when they look like one file name: "meeting notes.txt".
  if (/\s/.test(rest) && (FUNCTION_WORD.test(rest) || !/^[\p{L}\p{N}_./~-]+(?: [\p{L}\p{N}_./~-]+){0,3}\.[\p{L}\p{N}]{1,8}$/u.test(rest))) {
    return undefined
  }
  return given(marked.unquoted(rest), folder, /[./\\\uE000]/.test(rest))
}

/** Reads a list of paths: "a.txt, b.txt and c.txt". Words without dot or slash count in a list only with `bare`. */
export function readPaths (
  marked: Marked,
  phrase: string,
  options: { known?: Known, here?: boolean, bare?: boolean } = {}
): PathPhrase[] | undefined {
  const items = phrase.replace(/\s+(?:both|each|all)\s*$/i, '').split(/\s*,\s+(?:and\s+)?|\s+(?:and|&|plus)\s+|(?<=\uE001)\s+(?=\uE000)/i)
  if (items.length > 1) {
    const paths = items.map((item) => readPath(marked, item, options))
    if (paths.every((path) => path && (path.plainly || options.bare || path.folder))) return paths as PathPhrase[]
    return undefined
  }
  const path = readPath(marked, phrase, options)
  return path && [path]
}

/** Whether a path is more likely a folder: it has no extension and is none of the usual files without one. */
export function looksLikeFolder ({ path, folder }: PathPhrase): boolean {
  if (folder || /[/\\]$/.test(path) || /^(?:\.{1,2}|~)$/.test(path)) return true
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  if (name === '..') return true
  return !name.includes('.') && !/^(?:[A-Z]{2,}[A-Z_-]*|[A-Z]\w*file|hosts|passwd)$/.test(name)
}

const given = (path: string, folder: boolean, plainly: boolean): PathPhrase | undefined =>
  path === '' ? undefined : { path, folder, plainly }

/** Removes punctuation of the sentence from the end of an unquoted path, but keeps the dots of . and .. */
function withoutPunctuation (phrase: string): string {
  const rest = phrase.replace(/[,;:!?]+$/, '')
  return /(?:^|[/\\])\.{1,2}$/.test(rest) ? rest : rest.replace(/\.+$/, '')
}
