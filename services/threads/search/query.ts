import { defineError } from '../../lib/service-error.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { type Word, wordsIn } from '../../lib/words.ts'

const NoWords = defineError('ERR_INVALID_REQUEST', 'q names no word to search for.')

/** Words that must stand one after the other. */
export interface Term {
  words: string[]
  /** Longer words that begin like the last one fit, too. */
  isPrefix: boolean
}

/** Where a term stands in a text: offsets in UTF-16 code units. */
export interface Match {
  start: number
  end: number
}

/** Terms that are looked for; the first count. */
const MAX_TERMS = 20

/** Reads what a person searches for: words, which must all be there, and phrases in quotation marks; the last word may be a beginning. */
export function parseQuery (query: string): Term[] {
  const terms: Term[] = []
  const pieces = [...query.matchAll(/["“”„«»]([^"“”„«»]*)(?:["“”„«»]|$)|[^\s"“”„«»]+/gu)]
  for (const [n, { 0: piece, 1: phrase }] of pieces.entries()) {
    const words = [...wordsIn(phrase ?? piece)].map(({ word }) => word)
    if (words.length > 0) terms.push({ words, isPrefix: phrase === undefined && n === pieces.length - 1 })
  }
  if (terms.length === 0) throw new NoWords()
  return terms.slice(0, MAX_TERMS)
}

export const fits = (word: string, wanted: string, isPrefix: boolean) => isPrefix ? word.startsWith(wanted) : word === wanted

/** Words of a text after which others get their turn. */
const SLICE = 500
/** Places of terms in a text that are returned at most. */
const MAX_MATCHES = 200

/** Where the terms stand in a text, in order; `at` is the first place of the one that comes last. */
export interface Found {
  matches: Match[]
  at: number
}

/** Returns where the terms stand in a text; undefined if one of them is missing. */
export async function findTerms (text: string, terms: readonly Term[]): Promise<Found | undefined> {
  const longest = Math.max(...terms.map(({ words }) => words.length))
  const recent: Word[] = []
  const matches: Match[] = []
  const missing = new Set(terms)
  let at = 0
  let read = 0
  for (const word of wordsIn(text)) {
    if (++read % SLICE === 0) await yieldToEventLoop()
    recent.push(word)
    if (recent.length > longest) recent.shift()
    for (const term of terms) {
      const first = recent.length - term.words.length
      if (first < 0 || !endsHere(term, recent, first)) continue
      const { start } = recent[first]
      const isNew = missing.delete(term)
      if (isNew) at = start
      if (isNew || matches.length < MAX_MATCHES) matches.push({ start, end: word.end })
    }
    if (missing.size === 0 && matches.length >= MAX_MATCHES) break
  }
  return missing.size === 0 ? { matches: merged(matches), at } : undefined
}

const endsHere = ({ words, isPrefix }: Term, recent: Word[], first: number) =>
  words.every((wanted, n) => fits(recent[first + n].word, wanted, isPrefix && n === words.length - 1))

/** Returns the places in order, with those that overlap as one. */
function merged (matches: Match[]): Match[] {
  const whole: Match[] = []
  for (const match of matches.toSorted((a, b) => a.start - b.start)) {
    const last = whole.at(-1)
    if (last !== undefined && match.start <= last.end) last.end = Math.max(last.end, match.end)
    else whole.push({ ...match })
  }
  return whole
}
