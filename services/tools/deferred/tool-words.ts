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
let meanings: Map<string, string[]> | undefined

function readMeanings (): Map<string, string[]> {
  const read = new Map<string, string[]>()
  for (const [n, line] of ALIKE.split(',').entries()) {
    for (const each of new Set(line.trim().split(/\s+/).map(stem))) read.set(each, [...read.get(each) ?? [], `=${n}`])
  }
  return read
}

/** Returns what a stem may mean: terms that all stems of that meaning have. */
export function meaningsOf (word: string): readonly string[] {
  meanings ??= readMeanings()
  return meanings.get(word) ?? []
}

/** Returns the stems of the words of a text, of names in every spelling (createIssue, create_issue), too; common words are left out. */
export const stemsIn = (text: string): string[] =>
  [...wordsIn(text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2').replaceAll('_', ' '))]
    .map(({ word }) => word).filter((word) => !COMMON.has(word)).map(stem)
