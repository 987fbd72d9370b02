import type { Sentence } from '../user-sentences.ts'
import { isOwn } from './sentence-core.ts'

/** Joints at which a new statement of the same speaker begins. */
const JOINT = /(?:,? (?:and|but|so|plus)|,) (?=(?:i|i'm|i've|my)\b)/gi
/** Conjunctions and pronouns of subordinate clauses, which may limit the statement. */
const SUBORDINATE = /\b(?:when|whenever|while|once|after|before|because|since|that|which|who|whom|whose|where|how|why|what|until|or)\b/i

/** Splits joined statements such as "I'm Ada and I live in Rome". Any other sentence is returned as it is. */
export function clausesOf (sentence: Sentence): Sentence[] {
  const { text, at, mark } = sentence
  if (!isOwn(text)) return [sentence]
  const clauses: Sentence[] = []
  let start = 0
  for (const joint of [...text.matchAll(JOINT), { 0: '', index: text.length }]) {
    const clause = text.slice(start, joint.index)
    // "Hello, I'm Ada" is one statement.
    if (!isOwn(clause)) continue
    if (joint[0] !== '' && SUBORDINATE.test(clause)) return [sentence]
    clauses.push({ text: clause, at: at + start, mark, whole: text })
    start = joint.index + joint[0].length
  }
  return clauses.length > 1 ? clauses : [sentence]
}
