import type { Claim, Evaluation } from '../../schemas/evaluation.ts'
import type { Judgement } from '../models/index.ts'
import { type CallFact, canHaveChanged, type FindTool } from './call-facts.ts'
import { nameOf, shown } from './material.ts'
import type { Expects } from '../../schemas/tasks.ts'

/** The highest score of a run that failed or asks, of one that did a part, and of one that is not verified. */
const MAX_FAILED = 0.4
const MAX_PARTLY = 0.5
const MAX_UNVERIFIED = 0.6
const MAX_ISSUES = 20

type Outcome = NonNullable<Evaluation['outcome']>

/** The findings about a run at its end. */
interface Findings {
  judgement: Judgement
  /** Why no model judged the run; undefined if one did. */
  problem?: string
  /** True if the report itself says that the run failed. */
  isAdmitted: boolean
  /** Sentences about parts of the request that are not done. */
  missing: string[]
  claims: Claim[]
  calls: CallFact[]
  report: string
  isCutOff: boolean
  expected: Expected
}

/**
 * Combines the judgement and the checked claims (effects that the report says the run had). A contradicted claim, an empty report or a
 * report that was cut off fails a run, whatever the judge says. The judge alone cannot fail a run: the report must admit the failure, or
 * the last call for an effect must have failed.
 */
export function evaluate (findings: Findings): Evaluation {
  const { claims, calls, report, isCutOff, expected, problem, missing } = findings
  const contradicted = claims.filter(({ verdict }) => verdict === 'contradicted')
  const unchecked = claims.filter(({ verdict }) => verdict === 'unchecked')
  const isVetoed = contradicted.length > 0 || report === '' || isCutOff
  const judged = problem === undefined ? ofJudge(findings) : withoutJudge(calls, problem)
  const outcome = isVetoed ? 'failed' : judged.outcome
  const evidence = problem !== undefined || unchecked.length > 0 ? 'unchecked' : claims.length > 0 ? 'confirmed' : 'not_needed'
  const doubt = judged.doubt ?? doubtOf({ outcome, claims, calls, expected })
  const isVerified = contradicted.length === 0 && evidence !== 'unchecked' && doubt === undefined
  return {
    satisfied: judged.satisfied && !isVetoed && missing.length === 0,
    score: Math.min(judged.score, maxScore(outcome), isVerified ? 1 : MAX_UNVERIFIED),
    issues: [
      ...(report === '' ? ['The report is empty.'] : []),
      ...(isCutOff ? ['The report breaks off, because it had reached its greatest length.'] : []),
      ...contradicted.map((claim) => issueOf(claim, 'not so')),
      ...unchecked.map((claim) => issueOf(claim, 'not checked')),
      ...missing,
      ...judged.issues,
      ...(doubt === undefined ? [] : [doubt])
    ].slice(0, MAX_ISSUES),
    outcome,
    ...(!isVerified && { verified: false }),
    claims,
    evidence: contradicted.length > 0 ? 'contradicted' : evidence,
    judge: problem === undefined ? 'model' : 'none'
  }
}

const issueOf = ({ claim, target, reason }: Claim, state: string) =>
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
  /** Why the report does not count as verified. */
  doubt?: string
}

const ALONE = 'The judge holds that the run failed; the report does not say so itself, and no call shows it.'
const ASKS = 'The report asks something, and work may be left undone for want of an answer.'

function ofJudge ({ judgement, isAdmitted, calls }: Findings): Opinion {
  const { outcome, satisfied = outcome === 'done', score = MAX_UNVERIFIED, issues = [] } = judgement
  const isAlone = outcome === 'failed' && !isAdmitted && !hasFailedLast(calls)
  return {
    outcome: isAlone ? 'partly' : outcome,
    satisfied: outcome === 'nothing_to_do' || (outcome === 'done' && satisfied),
    score: scoreOf(score),
    issues: issues.map(shown).filter((issue) => issue !== ''),
    doubt: isAlone ? ALONE : outcome === 'asks' ? ASKS : undefined
  }
}

/** Returns the score on a scale from 0 to 1, even if the judge used a scale to 10 or to 100. */
function scoreOf (given: number): number {
  const most = given <= 1 ? 1 : given <= 10 ? 10 : 100
  return Math.min(Math.max(given / most, 0), 1)
}

const triedIn = (calls: CallFact[]) => calls.filter(({ proves }) => proves !== undefined)

/** True if the last call for an effect failed, or if all such calls failed or were denied. An unknown outcome counts as neither. */
function hasFailedLast (calls: CallFact[]): boolean {
  const tried = triedIn(calls)
  return tried.at(-1)?.status === 'error' || (tried.length > 0 && tried.every(({ status }) => status === 'error' || status === 'denied'))
}

/** Returns the opinion without a judgement: the calls alone decide. */
function withoutJudge (calls: CallFact[], problem: string): Opinion {
  const last = triedIn(calls).at(-1)
  const issues = [`Nobody judged this run: the judgement ${problem}.`]
  if (last === undefined || !hasFailedLast(calls)) return { satisfied: true, score: MAX_UNVERIFIED, issues }
  const failure = `${nameOf(last)} ${last.status === 'denied' ? 'was denied' : 'failed'}.`
  return { outcome: 'failed', satisfied: false, score: 0, issues: [failure, ...issues] }
}

/** True if a run with this evaluation counts as completed. Without a judgement the outcome can be undefined; `satisfied` then decides. */
export function isCompleted ({ outcome, satisfied }: Pick<Evaluation, 'outcome' | 'satisfied'>): boolean {
  switch (outcome) {
    case undefined:
      return satisfied
    case 'done':
    case 'nothing_to_do':
    case 'partly':
    case 'asks':
      return true
    case 'failed':
      return false
  }
}

/** The effect that the plan expects, and the tools of the run. */
interface Expected {
  expects?: Expects
  find: FindTool
}

const MISSING: Record<Exclude<Expects, 'none'>, string> = {
  files: 'The plan expects that files are written, moved or deleted, and no call of this run can have done so.',
  message: 'The plan expects a message to somebody, and no call of this run can have sent one.',
  command: 'The plan expects that a command is run, and none ran to its end.'
}

/**
 * Returns why a report cannot count as verified, whatever the judge says; undefined if there is no reason. A
 * report of a failure, or that there was nothing to do, is consistent with calls that had no effect.
 */
function doubtOf ({ outcome, claims, calls, expected: { expects, find } }: {
  outcome: Evaluation['outcome']
  claims: readonly Claim[]
  calls: readonly CallFact[]
  expected: Expected
}): string | undefined {
  // Many runs with nothing to do consist of one command that only reads. Outside of a box, records cannot tell
  // such a command from one with an effect.
  const isLook = ({ isCommand, status, changes }: CallFact) =>
    outcome === 'nothing_to_do' && isCommand === true && status === 'completed' && changes.length === 0
  const hadEffect = calls.some((call) => canHaveChanged(call, find) && !isLook(call))
  const owesEffect = outcome === undefined || outcome === 'done' || outcome === 'partly' ||
    (outcome === 'nothing_to_do' && !hasLooked(calls))
  const isExpected = expects !== undefined && expects !== 'none'
  if (owesEffect && isExpected && !calls.some((call) => canHaveHad(expects, call, find))) return MISSING[expects]
  if (claims.length > 0) return undefined
  if (hadEffect && outcome !== 'failed' && outcome !== 'asks') {
    return 'Calls of this run can have changed something, and no claim of the report about it was checked.'
  }
  return owesEffect && isExpected ? 'The plan expects an effect, and no claim of the report about it was checked.' : undefined
}

/** True if a run can know that there was nothing to do: a call completed, and no attempt at an effect failed. */
const hasLooked = (calls: readonly CallFact[]) =>
  calls.some(({ status }) => status === 'completed') &&
  !calls.some(({ proves, status }) => proves !== undefined && (status === 'error' || status === 'denied'))

/** True if a call can have had the expected effect. */
function canHaveHad (expects: Exclude<Expects, 'none'>, call: CallFact, find: FindTool): boolean {
  const { status, proves, isCommand } = call
  switch (expects) {
    case 'files':
      return proves !== 'message' && proves !== 'command' && canHaveChanged(call, find)
    case 'message':
      return (proves === 'message' || proves === 'any') && (status === 'completed' || status === 'unknown')
    case 'command':
      return (isCommand === true || proves === 'command' || proves === 'any') && status === 'completed'
  }
}
