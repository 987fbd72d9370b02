import { foldText } from '../../brain/fact-text.ts'
import type { Entry } from '../../brain/memory.ts'

/** Letters that two words must begin with alike, so that "allergy" names "allergic". */
const STEM = 4

/**
 * Whether the user's words can be about an entry: they share a word with it, or the entry comes from the same conversation. Without
 * that, a page that tells a model which entries to forget could pass off any sentence of the user as the wish.
 */
export function namesEntry (words: string, entry: Entry, threadId: string): boolean {
  if (entry.source?.threadId === threadId) return true
  const of = (text: string) => (text.match(/[\p{L}\p{M}\p{N}]{3,}/gu) ?? []).map((word) => word.slice(0, STEM))
  // In scripts that write no blanks, two characters in a row count as a word.
  const pair = /(?=([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}))/gu
  const pairs = (text: string) => [...text.matchAll(pair)].map(([, found]) => found)
  const [said, known] = [words, entry.kind === 'preference' ? `${entry.key} ${entry.fact}` : entry.fact].map(foldText)
  return of(said).some((word) => of(known).includes(word)) || pairs(said).some((pair) => pairs(known).includes(pair))
}
