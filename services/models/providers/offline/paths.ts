import { type Clause, isPunctuation } from './clause.ts'
import type { Token } from './tokens.ts'

/** A path read from a clause. */
export interface Path {
  path: string
  /** Whether the clause says that it is a folder. */
  isFolder: boolean
  /** Whether it can only be a path: it stood in quotes, holds a dot or a slash, or was named before. */
  isPlain: boolean
}

export const IN = 'in|inside|under|within|from'
const FOLDER = 'folder|folders|directory|directories|dir|subfolder'
const FILE = 'file|files|document|path'
const DETERMINER = 'the|a|an|my|our|your|this|that|both|whole|entire|complete|full|new|empty|existing|local|text|called|named|titled|at|:'
const NO_NAME = 'here|everything|all|anything|nothing|something|one|ones|some|me|you|us|it|them|there|stuff|things|contents|content'
const CURRENT = 'the|this|that|my|our|your|current|present|working|whole|entire|root*'
const SENTENCE = `${IN}|to|into|onto|as|and|&|plus|with|containing|that|which|saying|whose|if|but|not|or|of|without|when|unless|until|` +
  'after|before|is|are|was|it|for|except|having|does|say|says|contain|contains|recursively|completely'
const [FOLDERS, NOUNS, NO_NAMES, SENTENCES] = [FOLDER, `${FOLDER}|${FILE}`, NO_NAME, SENTENCE].map((words) => new Set(words.split('|')))

/** Whether a token can only be a path: it holds a quotation, a dot or a slash. */
export const isPlain = (token: Token) => token.word === '' || /[./\\]/.test(token.text)

/** Whether the next token ends a phrase that names a path. */
const isPhraseOver = (clause: Clause, at = clause.at) => {
  const token = clause.tokens[at]
  return token === undefined || isPunctuation(token) || SENTENCES.has(token.word)
}

/** Reads the name of a file or folder; undefined when the clause does not certainly name one. `here` allows "this folder". */
export function readPath (clause: Clause, { here = true } = {}): Path | undefined {
  const path = readPronoun(clause, here) ?? readName(clause)
  if (path === undefined || /^(?:[/\\~]|[a-z]:)/i.test(path.path)) return path
  const { at, known } = clause
  if (known.folder !== undefined && clause.take(`${IN}? there`)) return { ...path, path: joinPath(known.folder, path.path) }
  const folder = clause.take(IN) ? readPath(clause) : undefined
  if (folder) return { ...path, path: joinPath(folder.path, path.path) }
  clause.at = at
  return path
}

/** Returns the path of a file or folder in a folder. */
const joinPath = (folder: string, path: string) =>
  folder === '.' ? path : `${folder.replace(/[/\\]+$/, '')}/${path}`

/** Reads words that stand for a path: "it", "that folder", "here". */
function readPronoun (clause: Clause, here: boolean): Path | undefined {
  const { at, known } = clause
  const isRead = (pattern: string) => {
    clause.at = at
    return clause.take(pattern) && isPhraseOver(clause)
  }
  const given = (path: string | undefined, isFolder: boolean) => path === undefined ? undefined : { path, isFolder, isPlain: true }
  if (known.folder !== undefined && isRead(`there|the|that|same|said* there|${FOLDER}`)) return given(known.folder, true)
  if (isRead('it|that|this|them') || isRead('its|the content|contents') || isRead(`the|that|this|same|said|new* ${FILE}`)) {
    return given(known.file ?? known.folder, known.file === undefined)
  }
  if (here && (isRead('right? here') || isRead(`${CURRENT} ${FOLDER}|workspace|project|repository`))) {
    return { path: '.', isFolder: true, isPlain: false }
  }
  clause.at = at
  return undefined
}

function readName (clause: Clause): Path | undefined {
  let isFolder = false
  const takeNoun = () => {
    isFolder ||= clause.next !== undefined && FOLDERS.has(clause.next.word)
    return clause.take(FOLDER) || clause.take(FILE)
  }
  while (!isPhraseOver(clause, clause.at + 1) && (clause.take(DETERMINER) || takeNoun()));
  // Several words are one name only when they look like one: "meeting notes.txt".
  const words: Token[] = []
  const isNamed = () => words.length > 0 && (isPlain(words.at(-1)!) || clause.next!.kind === 'quote' || NOUNS.has(clause.next!.word))
  while (!isPhraseOver(clause) && !isNamed()) words.push(clause.tokens[clause.at++])
  takeNoun()
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined || last.text === '') return undefined
  if (first === last ? NO_NAMES.has(first.word) || NOUNS.has(first.word) : words.length > 4 || !isPlain(last)) return undefined
  return { path: first === last ? first.text : clause.message.slice(first.start, last.end), isFolder, isPlain: isPlain(last) }
}

/** Reads a list of paths: "a.txt, b.txt and c.txt". Words without dot or slash count in a list only with `bare`. */
export function readPaths (clause: Clause, { here = true, bare = false } = {}): Path[] | undefined {
  const paths: Path[] = []
  for (let at = clause.at; !clause.isOver; at = clause.at) {
    if (paths.length > 0) clause.take(',? and|&|plus?')
    const path = readPath(clause, { here })
    if (path === undefined) {
      clause.at = at
      break
    }
    paths.push(path)
  }
  const isSure = paths.length === 1 || paths.every((path) => path.isPlain || path.isFolder || bare)
  return paths.length > 0 && isSure ? paths : undefined
}

/** Whether a path is more likely a folder: it has no extension and is none of the usual files without one. */
export function looksLikeFolder ({ path, isFolder }: Path): boolean {
  const name = /[^/\\]*$/.exec(path)![0]
  return isFolder || /^(?:|\.{1,2}|~)$/.test(name) || !/\.|^[A-Z]{2,}[A-Z_-]*$|^[A-Z]\w*file$|^hosts$/.test(name)
}
