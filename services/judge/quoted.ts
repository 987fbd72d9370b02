import type { Claim } from '../../schemas/evaluation.ts'
import { quoteFinder } from '../lib/quotes.ts'
import type { Judgement } from '../models/index.ts'
import { bearsOut, quotedSentence } from './borne-out.ts'
import type { CallFact } from './call-facts.ts'
import { mentions } from './claim-target.ts'
import { shown } from './material.ts'
import { type Asserted, lacksCall, verifyClaims } from './verify-claims.ts'

// Statements of a judge count only if they quote the report, or for missing parts the request.

/** A report, and the calls that it is about. */
interface Reported {
  report: string
  calls: CallFact[]
}

const UNNAMED = 'The report does not name the thing that this claim is about.'
const OTHERWISE = 'A call confirms the thing that the report names, but not this effect.'

/**
 * Returns the claims (effects that the report says the run had) that the judge model listed and that quote the report, each checked against
 * the calls. Claims without a found quote are left out.
 */
export async function quotedClaims (
  { claims = [] }: Judgement,
  { report, calls, ...facts }: Reported & { cwd: string, signal: AbortSignal }
): Promise<Claim[]> {
  const quoted = claims.flatMap((claim): Array<Asserted & { sentence: string }> => {
    const { quote, effect } = claim
    const sentence = quote === undefined ? undefined : quotedSentence(report, quote)
    return sentence === undefined || effect === undefined ? [] : [{ ...claim, claim: claim.claim ?? quote!, effect, sentence }]
  })
  const checked = await verifyClaims(quoted, { calls, ...facts })
  return checked.map((claim, at): Claim => {
    const reason = lacksCall(claim) ? misreadBecause(quoted[at], { report, calls }) : undefined
    return reason === undefined ? claim : { ...claim, verdict: 'unchecked', reason }
  })
}

/**
 * Returns why a claim that no call supports might be the judge's mistake; undefined if nothing suggests a mistake.
 * Either the report names no target for the claim, or a successful call is about the thing that the report names. If
 * the sentence names the target, only the target counts, so that each of several effects in one sentence is checked.
 */
function misreadBecause (
  { sentence, target }: Pick<Asserted, 'target'> & { sentence: string },
  { report, calls }: Reported
): string | undefined {
  const name = target == null ? undefined : namedIn(sentence, target) ?? namedIn(report, target)
  if (calls.some((call) => bearsOut(call, sentence, name))) return OTHERWISE
  return name === undefined ? UNNAMED : undefined
}

/** Returns the form of a target that a text contains: the whole target or its last part; undefined if none. */
function namedIn (text: string, target: string): string | undefined {
  const bare = target.replace(/^(?:\.?\/)+/, '')
  const forms = [target, bare, bare.split('/').findLast((part) => part !== '') ?? '']
  return forms.map((form) => form.normalize('NFC')).find((form) => mentions(text.normalize('NFC'), form))
}

/**
 * Returns the sentence in which the report, according to the judge, says that its run failed; undefined if there
 * is none, or if a successful call supports that sentence.
 */
export function quotedFailure ({ outcome, quote }: Judgement, { report, calls }: Reported): string | undefined {
  if (outcome !== 'failed' || quote === undefined) return undefined
  const sentence = quotedSentence(report, quote)
  return sentence === undefined || calls.some((call) => bearsOut(call, sentence)) ? undefined : sentence
}

/** Returns a sentence for each missing part of the request that the judge quotes from the request. */
export const quotedGaps = ({ missing = [] }: Judgement, request: string): string[] =>
  missing.flatMap((words) => quoteFinder(request)(words) ?? []).map((quote) => `The request asks for “${shown(quote)}”, which is missing.`)
