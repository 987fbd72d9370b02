import { COMMON_WORDS } from '../../lib/common-words.ts'
import { fold, wordsIn } from '../../lib/words.ts'

/** Letters of the shortest word that counts, in scripts that write letters. */
const SHORTEST = 3
/** Common words in the form of `wordsIn`; made at the first use. */
let common: Set<string> | undefined

/** The article and the particles before it are a part of the word in Arabic. */
const ARABIC_ARTICLE = /^(?:[وبفك]?ال|لل)(?=\p{Script=Arabic}{3})/u
const HAN = /\p{Script=Han}/u
const HIRAGANA = /^\p{Script=Hiragana}+$/u
/** Scripts whose words are found by the whole word alone: they are short, or split by guess. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Hangul}]/u
/** The part of a Korean word that carries its meaning; particles follow. */
const HANGUL_STEM = 2

export const isUnspaced = (term: string): boolean => UNSPACED.test(term)

/** Returns the words of a text that tell what it is about, folded, in their order; a word of Chinese characters with its pairs. */
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

/** Letters that forms of one word begin with alike, at least, and their share of the longer form. */
const ALIKE = 4
const ALIKE_SHARE = 0.65
/** Letters of an ending of a word of ALIKE letters, and of one of three. */
const ENDING = 3
const SHORT_ENDING = 2
const LATIN = /\p{Script=Latin}/u

/** The beginning of a word by which its other forms are looked for; the word itself where forms are not told apart by their ends. */
export function beginningOf (term: string): string {
  if (isUnspaced(term)) return term
  return term.slice(0, Math.max(term.length <= SHORTEST + SHORT_ENDING ? SHORTEST : ALIKE, Math.ceil(term.length * ALIKE_SHARE)))
}

/** Whether two words are forms of one word: the same beginning and short endings, or one is the beginning of the other. */
export function isFormOf (a: string, b: string): boolean {
  if (a === b) return true
  if (isUnspaced(a) || isUnspaced(b)) return false
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length <= ALIKE && long.startsWith(short)) {
    const ending = long.slice(short.length)
    if (short.length === ALIKE) return ending.length <= ENDING
    // Short words have short endings, which say less where words are many and short.
    return LATIN.test(long) ? ending === 's' : ending.length <= SHORT_ENDING
  }
  if (short.length < ALIKE) return false
  if (long.startsWith(short)) return true
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  return same >= ALIKE && same >= long.length * ALIKE_SHARE
}

/** Letters of a compound, and of the words that may begin or end it. */
const COMPOUND = 9
const FIRST_PART = 5
const LAST_PART = 6

/** Returns the words that a long word may be composed of, as German writes them. */
export function partsOf (term: string): string[] {
  if (term.length < COMPOUND || isUnspaced(term)) return []
  const parts: string[] = []
  for (let length = term.length - 3; length >= FIRST_PART; length--) parts.push(term.slice(0, length))
  for (let length = term.length - 3; length >= LAST_PART; length--) parts.push(term.slice(-length))
  return parts
}

/** What is said of the user, or found for them. */
interface Said {
  fact: string
  key?: string
  asked?: string
}

/** Whether two statements share a word that tells what they are about. */
export function shareSubject (one: Said, other: Said): boolean {
  const [a, b] = [one, other].map(({ fact, key = '', asked = '' }) => termsOf([fact, key, asked].join('\n')))
  return a.some((term) => b.some((each) => isFormOf(term, each)))
}
