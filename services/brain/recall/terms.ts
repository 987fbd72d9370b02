import { COMMON_WORDS } from '../../lib/common-words.ts'
import { fold, wordsIn } from '../../lib/words.ts'

/** Shorter words do not count as terms, in alphabetic scripts. */
const SHORTEST = 3
/** Common words, which are no terms, as `wordsIn` writes them. Created at the first use. */
let common: Set<string> | undefined

/** Matches the Arabic article, and the particles before it, which are written together with the word. */
const ARABIC_ARTICLE = /^(?:[وبفك]?ال|لل)(?=\p{Script=Arabic}{3})/u
const HAN = /\p{Script=Han}/u
const HIRAGANA = /^\p{Script=Hiragana}+$/u
/** Scripts whose words are compared only as a whole, because the words are short, or because their boundaries are guessed. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Hangul}]/u
/** How many syllables at the beginning of a Korean word carry its meaning. Particles follow them. */
const HANGUL_STEM = 2

export const isUnspaced = (term: string): boolean => UNSPACED.test(term)

/**
 * Returns the terms of a text: its folded words without common ones, in their order, each once. A word of
 * Chinese characters also yields its pairs of characters.
 */
export function termsOf (text: string): string[] {
  common ??= new Set([...COMMON_WORDS].flatMap((word) => [word, fold(word)]))
  const terms: string[] = []
  for (const { word } of wordsIn(text)) {
    if (common.has(word)) continue
    if (HAN.test(word)) {
      const han = word.replace(/\P{Script=Han}+$/u, '')
      terms.push(han)
      if (han.length > 2) for (let at = 0; at + 2 <= han.length; at++) terms.push(han.slice(at, at + 2))
    } else if (/\p{Script=Hangul}/u.test(word)) {
      if (word.length >= HANGUL_STEM) terms.push(word.slice(0, HANGUL_STEM))
    } else if (!HIRAGANA.test(word)) {
      const bare = word.replace(ARABIC_ARTICLE, '')
      if (bare.length >= (isUnspaced(bare) ? 2 : SHORTEST) && !common.has(bare)) terms.push(bare)
    }
  }
  return [...new Set(terms)].filter((term) => !common!.has(term))
}

/** Two words are forms of one word if they share at least this many letters at the beginning, and this share of the longer word. */
const ALIKE = 4
const ALIKE_SHARE = 0.65
/** The most letters that can follow a word of ALIKE letters, and a word of three letters, in a longer form of the same word. */
const ENDING = 3
const SHORT_ENDING = 2
const LATIN = /\p{Script=Latin}/u

/** Returns the beginning of a word by which other forms of the word are looked up; the whole word in scripts without endings. */
export function beginningOf (term: string): string {
  if (isUnspaced(term)) return term
  return term.slice(0, Math.max(term.length <= SHORTEST + SHORT_ENDING ? SHORTEST : ALIKE, Math.ceil(term.length * ALIKE_SHARE)))
}

/** True if two words are forms of one word: they have the same beginning and short endings, or one word begins with the other. */
export function isFormOf (a: string, b: string): boolean {
  if (a === b) return true
  if (isUnspaced(a) || isUnspaced(b)) return false
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length <= ALIKE && long.startsWith(short)) {
    const ending = long.slice(short.length)
    if (short.length === ALIKE) return ending.length <= ENDING
    // Short words can have short endings only, because many unrelated words begin with the same few letters.
    return LATIN.test(long) ? ending === 's' : ending.length <= SHORT_ENDING
  }
  if (short.length < ALIKE) return false
  if (long.startsWith(short)) return true
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  return same >= ALIKE && same >= long.length * ALIKE_SHARE
}

/** The fewest letters of a compound word, and of the words at its beginning and at its end. */
const COMPOUND = 9
const FIRST_PART = 5
const LAST_PART = 6

/** Returns the possible first and last parts of a long word, which might be a compound, as in German. */
export function partsOf (term: string): string[] {
  if (term.length < COMPOUND || isUnspaced(term)) return []
  const parts: string[] = []
  for (let length = term.length - 3; length >= FIRST_PART; length--) parts.push(term.slice(0, length))
  for (let length = term.length - 3; length >= LAST_PART; length--) parts.push(term.slice(-length))
  return parts
}

/** A statement of the user, or an entry of the memory. */
interface Said {
  fact: string
  key?: string
  asked?: string
}

/** True if two statements share a term, in any form of the word. */
export function shareSubject (one: Said, other: Said): boolean {
  const [a, b] = [one, other].map(({ fact, key = '', asked = '' }) => termsOf([fact, key, asked].join('\n')))
  return a.some((term) => b.some((each) => isFormOf(term, each)))
}
