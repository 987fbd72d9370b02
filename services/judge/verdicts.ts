import type { Claim } from '../../schemas/evaluation.ts'
import type { Judgement } from '../models/index.ts'

/** A claim as the judge reported it. */
export type Asserted = Judgement['claims'][number]
export type Verdict = Pick<Claim, 'verdict' | 'reason'>

export const confirmed: Verdict = { verdict: 'confirmed' }
export const contradicted = (reason: string): Verdict => ({ verdict: 'contradicted', reason })
export const unchecked = (reason: string): Verdict => ({ verdict: 'unchecked', reason })

export const NO_CALL = 'No completed call of this run can have done it.'
export const OUTCOME_OPEN = 'The outcome of a call that can have done it is not known.'
export const NOT_NAMED = 'Calls ran that can have done it, and none of them names it.'

/** Longest text of a judge that is kept, characters. */
const SHOWN = 500

/** Makes a text of a model fit for records: well-formed, without control characters, bounded. */
export function shown (text: string): string {
  // eslint-disable-next-line no-control-regex
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ').trim()
  return clean.length > SHOWN ? `${clean.slice(0, SHOWN).toWellFormed()}…` : clean
}
