import type { Excerpt } from './excerpt.ts'

/** The file and folder that were named before, to which "it" and "there" refer. */
export interface Known {
  file?: string
  folder?: string
  /** True if the last command read the file, so that "show me its contents" asks for nothing more. */
  isRead?: boolean
}

/** A file or folder that a message names. */
export interface Name {
  path: string
  /** True if the message says that it is a folder. */
  isFolder: boolean
  /** True if the words can only be a path: the path was quoted, contains a dot or a slash, or was named before. */
  isCertain: boolean
}

const FOLDER = 'folders?|directory|directories|dir|subfolder'
const NOUN = `${FOLDER}|files?|document|path`
const DETERMINER =
  'the|a|an|my|our|your|this|that|both|whole|entire|complete|full|new|empty|existing|local|text|called|named|titled|at'
/** Words that show that several words are a sentence and not a name. */
const SENTENCE =
  'and|in|inside|under|within|from|to|into|onto|as|with|containing|that|which|saying|if|but|not|or|of|without|when|unless|until|' +
  'after|before|is|are|was|it|for|except|does|says?|contains?|recursively|completely'
const NO_NAME = new RegExp(
  `^(?:${NOUN}|${SENTENCE}|here|everything|all|anything|nothing|something|ones?|some|me|you|us|it|its|them|this|that|there|` +
    'stuff|things|contents?|-.*)$'
)

/** Words around a name. Several words are one name only if they look like one: "meeting notes.txt". */
const NAME = new RegExp(
  `^(?<before>(?:(?:${DETERMINER}|${NOUN}):?\\s+)*)` +
    `(?<name>[\uE000\uE001]+|(?:(?!(?:${SENTENCE})\\s)[^\\s,;:\uE000-\uE002]+\\s+){1,3}\uE001+|[^\\s,;:.!?]+)` +
    `(?<after>\\s+(?:${NOUN}))?(?:\\s+(?:(?:in|inside|under|within|from)\\s+(?=.)|(?=there$))(?<place>.+))?$`,
  'd'
)
const THERE = new RegExp(`^(?:(?:the|that|same|said) )*(?:there|${FOLDER})$`)
const IT = /^(?:it|that|this|them|(?:its|the) contents?|(?:the|that|this|same|said) (?:new )?(?:files?|document))$/
const HERE = new RegExp(
  '^(?:right )?here$|' +
    `^(?:(?:the|this|that|my|our|your|current|present|working|whole|entire|root) )*(?:${FOLDER}|workspace|project|repository)$`
)

/** Reads the name of a file or folder; undefined if it is not certain that the words name one. `here` allows "this folder". */
function readName (words: Excerpt, known: Known, here: boolean): Name | undefined {
  const { mask } = words
  if (known.folder !== undefined && THERE.test(mask)) return { path: known.folder, isFolder: true, isCertain: true }
  const it = IT.test(mask) ? known.file ?? known.folder : undefined
  if (it !== undefined) return { path: it, isFolder: known.file === undefined, isCertain: true }
  if (here && HERE.test(mask)) return { path: '.', isFolder: true, isCertain: false }

  const { name, before, after, place } = words.match(NAME) ?? {}
  if (name === undefined || name.text === '' || NO_NAME.test(name.mask)) return undefined
  const isFolder = new RegExp(`\\b(?:${FOLDER})\\b`).test(`${before.mask} ${after?.mask ?? ''}`)
  const inside = { isFolder, isCertain: /[\uE000\uE001]$/.test(name.mask) }
  if (place === undefined) return { path: name.text, ...inside }
  const folder = readName(place, known, true)
  if (folder === undefined || /^(?:[/\\~]|[a-z]:)/i.test(name.text)) return undefined
  return { path: folder.path === '.' ? name.text : `${folder.path.replace(/[/\\]+$/, '')}/${name.text}`, ...inside }
}

const AND = /\s*(?:,|\s(?:and|plus)(?=\s)|&)(?:\s*(?:and|plus)(?=\s))?\s*|(?<=[\uE000\uE001])\s+(?=[\uE000\uE001])/g

/** Reads names as in "a.txt, b.txt and c.txt". Words without a dot or slash count as names in a list only with `bare`. */
export function readNames (words: Excerpt, known: Known, { here = true, bare = false } = {}): Name[] | undefined {
  const names = words.split(AND).map((each) => readName(each, known, here))
  const areSure = names.length === 1 || names.every((name) => name?.isCertain || name?.isFolder || bare)
  return areSure && names.every((name) => name !== undefined) ? names : undefined
}

/** True if a name probably belongs to a folder: it has no extension and is not one of the usual files without one. */
export function looksLikeFolder ({ path, isFolder }: Name): boolean {
  const name = /[^/\\]*$/.exec(path)![0]
  return isFolder || /^(?:|\.{1,2}|~)$/.test(name) || !/\.|^[A-Z]{2,}[A-Z_-]*$|^[A-Z]\w*file$|^hosts$/.test(name)
}
