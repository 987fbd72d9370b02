import type { Sentence } from '../user-sentences.ts'
import { isOwn } from './sentence-core.ts'

/** Where a new statement of the same speaker begins. */
const JOINT = /(?:,? (?:and|but|so|plus)|,) (?=(?:i|i'm|i've|my)\b)/gi
/** What stands behind these may hold for what they introduce only. */
const SUBORDINATE = /\b(?:when|whenever|while|once|after|before|because|since|that|which|who|whom|whose|where|how|why|what|until|or)\b/i

/** The statements that a sentence joins, "I'm Ada and I live in Rome"; the sentence itself when it may be anything else. */
export function clausesOf (sentence: Sentence): Sentence[] {
  const { text, at, mark } = sentence
  if (!isOwn(text)) return [sentence]
  const clauses: Sentence[] = []
  let start = 0
  for (const joint of [...text.matchAll(JOINT), { 0: '', index: text.length }]) {
    const clause = text.slice(start, joint.index)
    // "Hello, I'm Ada" is one.
    if (!isOwn(clause)) continue
    if (joint[0] !== '' && SUBORDINATE.test(clause)) return [sentence]
    clauses.push({ text: clause, at: at + start, mark, whole: text })
    start = joint.index + joint[0].length
  }
  return clauses.length > 1 ? clauses : [sentence]
}
