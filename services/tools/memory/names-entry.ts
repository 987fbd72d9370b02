import { type Entry, foldText } from '../../brain/index.ts'
import { COMMON_WORDS } from './common-words.ts'

/** Letters of the shortest word, and letters that two words must begin with alike, so that "allergy" names "allergic". */
const SHORTEST = 3
const STEM = 4
const HANGUL_STEM = 2

/** Made at the first use, because it loads the words of the scripts that write no blanks. */
let segmenter: Intl.Segmenter | undefined

/**
 * Whether the user's words can be about an entry: they share a word with it that does not stand in sentences about anything, or the
 * entry comes from the same conversation. Without that, a page that tells a model which entries to forget could pass off any sentence
 * of the user as the wish.
 */
export function namesEntry (words: string, entry: Entry, threadId: string): boolean {
  if (entry.source?.threadId === threadId) return true
  const known = stemsOf(entry.kind === 'preference' ? `${entry.key} ${entry.fact}` : entry.fact)
  return [...stemsOf(words)].some((stem) => known.has(stem))
}

/** The beginnings of the words of a text that tell what it is about. */
function stemsOf (text: string): Set<string> {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' })
  const stems = [...segmenter.segment(foldText(text))].flatMap(({ segment, isWordLike }) => isWordLike ? stemsOfWord(segment) : [])
  return new Set(stems.filter((stem) => !COMMON_WORDS.has(stem)))
}

function stemsOfWord (word: string): string[] {
  if (COMMON_WORDS.has(word)) return []
  if (/\p{Script=Han}/u.test(word)) return pairsOf(word.replace(/\P{Script=Han}/gu, ''))
  if (/\p{Script=Hangul}/u.test(word)) return word.length < HANGUL_STEM ? [] : [word.slice(0, HANGUL_STEM)]
  // Words in Hiragana alone are mostly particles and endings.
  if (/^\p{Script=Hiragana}+$/u.test(word)) return []
  // The article is a part of the word in Arabic.
  const bare = word.replace(/^(?:[وبفك]?ال|لل)(?=\p{Script=Arabic}{3})/u, '')
  return bare.length < SHORTEST ? [] : [bare.slice(0, STEM)]
}

/** Two characters in a row, because words without blanks between them are not surely told apart. */
const pairsOf = (word: string): string[] =>
  word.length < 2 ? [word] : Array.from(word.slice(1), (_, at) => word.slice(at, at + 2))
