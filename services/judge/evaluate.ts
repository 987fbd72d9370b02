import type { Claim, Evaluation } from '../../schemas/evaluation.ts'
import type { Judgement } from '../models/index.ts'
import type { CallFact } from './call-facts.ts'
import { doubtOf, type Expected } from './expected-effects.ts'
import { nameOf } from './material.ts'
import { shown } from './verdicts.ts'

/** Highest scores: of a run that did not complete, that did a part, and that is not verified. */
const MAX_FAILED = 0.4
const MAX_PARTLY = 0.5
const MAX_UNVERIFIED = 0.6
const MAX_ISSUES = 20

type Outcome = NonNullable<Evaluation['outcome']>

/** What is known of a run at its end. */
export type Findings = ({ value: Judgement } | { problem: string }) & {
  claims: Claim[]
  calls: CallFact[]
  report: string
  isCutOff: boolean
  expected: Expected
}

/**
 * Puts the judge's reading and the checked claims together. A contradicted claim, an empty report and one that was cut off fail a run
 * whatever the judge says; nothing else does.
 */
export function evaluate (findings: Findings): Evaluation {
  const { claims, calls, report, isCutOff, expected } = findings
  const contradicted = claims.filter(({ verdict }) => verdict === 'contradicted')
  const unchecked = claims.filter(({ verdict }) => verdict === 'unchecked')
  const isVetoed = contradicted.length > 0 || report === '' || isCutOff
  const judged = 'value' in findings ? ofJudge(findings.value) : withoutJudge(findings.calls, findings.problem)
  const outcome = isVetoed ? 'failed' : judged.outcome
  const evidence = !('value' in findings) || unchecked.length > 0 ? 'unchecked' : claims.length > 0 ? 'confirmed' : 'not_needed'
  const doubt = doubtOf({ outcome, claims, calls, expected })
  const isVerified = contradicted.length === 0 && evidence !== 'unchecked' && doubt === undefined
  return {
    satisfied: judged.satisfied && !isVetoed,
    score: Math.min(judged.score, maxScore(outcome), isVerified ? 1 : MAX_UNVERIFIED),
    issues: [
      ...(report === '' ? ['The report is empty.'] : []),
      ...(isCutOff ? ['The report breaks off, because it had reached its greatest length.'] : []),
      ...contradicted.map((claim) => told(claim, 'not so')),
      ...unchecked.map((claim) => told(claim, 'not checked')),
      ...judged.issues,
      ...(doubt === undefined ? [] : [doubt])
    ].slice(0, MAX_ISSUES),
    ...(outcome && { outcome }),
    ...(!isVerified && { verified: false }),
    claims,
    evidence: contradicted.length > 0 ? 'contradicted' : evidence,
    judge: 'value' in findings ? 'model' : 'none'
  }
}

const told = ({ claim, target, reason }: Claim, state: string) =>
  `The report says: “${claim}”${target === undefined ? '' : ` (${target})`}. This is ${state}: ${reason}`

function maxScore (outcome: Outcome | undefined): number {
  switch (outcome) {
    case 'failed':
    case 'asks':
      return MAX_FAILED
    case 'partly':
      return MAX_PARTLY
    case 'done':
    case 'nothing_to_do':
    case undefined:
      return 1
  }
}

interface Opinion {
  outcome?: Outcome
  satisfied: boolean
  score: number
  issues: string[]
}

function ofJudge ({ outcome, satisfied, score, issues }: Judgement): Opinion {
  return {
    outcome,
    satisfied: outcome === 'nothing_to_do' || (outcome === 'done' && satisfied),
    score: scoreOf(score),
    issues: issues.map(shown).filter((issue) => issue !== '')
  }
}

/** The score from 0 to 1 of a judge that may have counted to 10 or 100. */
function scoreOf (given: number): number {
  const most = given <= 1 ? 1 : given <= 10 ? 10 : 100
  return Math.min(Math.max(given / most, 0), 1)
}

/** Without a judge a run fails when its last call of an effect failed, or when none of them completed. An unknown outcome is neither. */
function withoutJudge (calls: CallFact[], problem: string): Opinion {
  const tried = calls.filter(({ proves }) => proves !== undefined)
  const last = tried.at(-1)
  const isFailed = last?.status === 'error' || (tried.length > 0 && tried.every(({ status }) => status === 'error' || status === 'denied'))
  const issues = [`Nobody judged this run: the judgement ${problem}.`]
  if (last === undefined || !isFailed) return { satisfied: true, score: MAX_UNVERIFIED, issues }
  const failure = `${nameOf(last)} ${last.status === 'denied' ? 'was denied' : 'failed'}.`
  return { outcome: 'failed', satisfied: false, score: 0, issues: [failure, ...issues] }
}

/** Whether a run with this evaluation is completed. Without a judge there may be no outcome. */
export function isCompleted ({ outcome, satisfied }: Pick<Evaluation, 'outcome' | 'satisfied'>): boolean {
  switch (outcome) {
    case undefined:
      return satisfied
    case 'done':
    case 'nothing_to_do':
    case 'partly':
      return true
    case 'failed':
    case 'asks':
      return false
  }
}
