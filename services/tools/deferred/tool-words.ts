import { wordsIn } from '../../lib/words.ts'
import { ALIKE } from './alike-words.ts'

/** Words that say nothing about what a tool does. */
const COMMON = new Set(
  ('a about all am an and any anyone are as at be been by can could did do does every for from had has have how i if in into is it ' +
    'its just like may me more must my no not of off on one only or our please shall she should so some than that the their them then ' +
    'there these they this those to up us use used using want was we were will with would ' +
    'yet you your').split(' ')
)

/** What is left of a word that ends with e, such as updat, disabl or serv. */
const NEEDS_E = /(?:at|iz|bl|[^aeiou][cs]|[aeiou](?:[csgv])|[ao]r)$/

/** Returns an English word without the endings of its forms. Other words stay, or lose what looks like such an ending. */
export function stem (word: string): string {
  if (word.length < 4) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  let rest = word
  if (/(?:ss|sh|ch|x|z)es$/.test(rest)) rest = rest.slice(0, -2)
  else if (/[^su]s$/.test(rest)) rest = rest.slice(0, -1)
  const form = /^(.{3,})(?:ing|ed)$/.exec(rest)?.[1]
  if (form !== undefined && /[aeiouy]/.test(form)) {
    rest = /([bdgmnprt])\1$/.test(form) ? form.slice(0, -1) : NEEDS_E.test(form) ? `${form}e` : form
  }
  return rest.length > 4 && rest.endsWith('e') ? rest.slice(0, -1) : rest
}

/** Made by the first search: not every service has many tools. */
let alike: Map<string, Set<string>> | undefined

function readAlike (): Map<string, Set<string>> {
  const read = new Map<string, Set<string>>()
  for (const group of ALIKE.split(',')) {
    const stems = group.trim().split(/\s+/).map(stem)
    for (const each of stems) read.set(each, new Set([...read.get(each) ?? [], ...stems.filter((other) => other !== each)]))
  }
  return read
}

/** Returns the stems of the words that people use for a word, in the general language of tools. */
export function alikeTo (word: string): ReadonlySet<string> {
  alike ??= readAlike()
  return alike.get(word) ?? new Set()
}

const RUN = /[\p{L}\p{N}\p{M}]+/gu
/** Where a name in one of the spellings of programs has a new word: createIssue, HTMLPage, v2Api. */
const NEW_WORD = /(?<=\p{Ll}|\d)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu

const stemsOf = (text: string): string[] => [...wordsIn(text)].flatMap(({ word }) => COMMON.has(word) ? [] : [stem(word)])

/** Yields the stems of each run of letters, and the one of the whole run where its spelling splits it, as in GitHub or createIssue. */
function * runsIn (text: string): Generator<{ parts: string[], whole?: string }> {
  for (const [run] of text.matchAll(RUN)) {
    const spelled = run.replace(NEW_WORD, ' ')
    const parts = stemsOf(spelled)
    yield spelled === run ? { parts } : { parts, whole: stemsOf(run)[0] }
  }
}

/** Returns the stems of the words of a text, of names in every spelling (createIssue, create_issue), too; common words are left out. */
export const stemsIn = (text: string): string[] => [...runsIn(text)].flatMap(({ parts }) => parts)

/** Returns the stems under which a text is found: those of its words, and of its names as a whole. */
export const indexedStems = (text: string): string[] =>
  [...runsIn(text)].flatMap(({ parts, whole }) => whole === undefined ? parts : [...parts, whole])

/** Returns the stems of a query, each once. A name that the index knows as a whole counts as such: GitHub is not Git. */
export const queryStems = (text: string, isKnown: (stem: string) => boolean): Set<string> =>
  new Set([...runsIn(text)].flatMap(({ parts, whole }) => whole !== undefined && isKnown(whole) ? [whole] : parts))
