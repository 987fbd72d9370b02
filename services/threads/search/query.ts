import { defineError } from '../../lib/service-error.ts'
import { yieldToEventLoop } from '../../lib/yield-to-event-loop.ts'
import { type Word, wordsIn } from '../../lib/words.ts'

const NoWords = defineError('ERR_INVALID_REQUEST', 'q holds no word to search for: give at least one letter or digit.')

/** Words that must follow each other directly. */
export interface Term {
  words: string[]
  /** Whether the last word can be the beginning of a longer word. */
  isPrefix: boolean
}

/** The place of a term in a text, as offsets in UTF-16 code units. */
export interface Match {
  start: number
  end: number
}

/** The most terms of a search; further ones are ignored. */
const MAX_TERMS = 20

/**
 * Parses a search query: words and phrases in quotation marks, which must all occur. The last word of the query can be the beginning of a
 * longer word. Terms beyond MAX_TERMS are ignored. Throws NoWords (400) for a query without words.
 */
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

const matchesWord = (word: string, wanted: string, isPrefix: boolean) => isPrefix ? word.startsWith(wanted) : word === wanted

/** The number of words of a text after which the search yields to the event loop. */
const SLICE = 500
/** The most places of terms in a text that are returned. */
const MAX_MATCHES = 200

/** The places of the terms in a text, in order. `at` is the first place of the term that is found last. */
export interface Found {
  matches: Match[]
  at: number
}

/** Returns the places of the terms in a text; undefined if one of the terms is missing. */
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
  words.every((wanted, n) => matchesWord(recent[first + n].word, wanted, isPrefix && n === words.length - 1))

/** Sorts the places and merges overlapping ones. */
function merged (matches: Match[]): Match[] {
  const whole: Match[] = []
  for (const match of matches.toSorted((a, b) => a.start - b.start)) {
    const last = whole.at(-1)
    if (last !== undefined && match.start <= last.end) last.end = Math.max(last.end, match.end)
    else whole.push({ ...match })
  }
  return whole
}
