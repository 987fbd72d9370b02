import type { Log } from '../lib/log.ts'
import type { Claim, Evaluation } from '../../schemas/evaluation.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import {
  askStructured,
  failurePrompt,
  type Judgement,
  judgementPrompt,
  type Material,
  type NoAnswer,
  refinementPrompt,
  type Registry
} from '../models/index.ts'
import { isAnswerCall } from '../runs/index.ts'
import { newestText, type RunEvent } from '../contracts/run-events.ts'
import type { Meter } from '../usage/index.ts'
import { callFacts, type CallFact, type FindTool } from './call-facts.ts'
import type { Expects } from '../../schemas/tasks.ts'
import { evaluate } from './evaluate.ts'
import { indexOf, nameOf, newestCalls, shorten } from './material.ts'

/** The time limit of the judge, in milliseconds. Without an answer in time the calls alone decide. */
const JUDGE_MS = 15_000
const REQUEST_SHOWN = 8_000
const REPORT_SHOWN = 16_000

export interface JudgeDeps {
  registry: Pick<Registry, 'roles' | 'model'>
  host: { find: FindTool }
  clock: Clock
  meter: Meter
  log: Pick<Log, 'warn'>
}

/** A run that has given its report, with the events of its run log. */
interface JudgedRun extends Pick<Material, 'request' | 'criteria' | 'plan'> {
  events: readonly RunEvent[]
  /** The folder that relative paths of the run resolve against. */
  cwd: string
  /** The structured answer of the run, if the run had to give one. */
  object?: object
  /** The effect that the plan expects of the run; absent if there is no plan. */
  expects?: Expects
  /** The checked claims (effects that a report says its run had) of the first version of the report, if this is the second version. */
  earlier?: Claim[]
}

/** The result of judging a report. */
export interface Judged {
  evaluation: Evaluation
  /** The message that asks the run for a second version of its report; absent if the report stands. */
  refinement?: string
  /** True if the report is empty or breaks off. */
  isBroken: boolean
}

/**
 * Checks the claims of a run's newest report against what the run has done. The model of role `fast` lists the claims with quotes. Code
 * then finds these quotes in the report, and gives each claim a verdict. It considers the recorded calls and the files that these calls
 * name, and nothing else. If no model answers, the calls alone decide. Rejects only with the reason of the signal, or with the budget error
 * if the budget does not allow the judge's model call.
 */
export async function judgeRun (run: JudgedRun, deps: JudgeDeps, signal: AbortSignal): Promise<Judged> {
  const { events, cwd, object, expects, earlier = [] } = run
  const calls = callFacts(object === undefined ? events : events.filter((event) => !isAnswerCall(event)), deps.host.find, cwd)
  const text = newestText(events).trim()
  const report = object === undefined ? text : `${text}\n\nThe answer as data:\n${JSON.stringify(object)}`.trimStart()
  // Messages of the user during the run are a part of the request.
  const said = events.flatMap((event) => event.type === 'steer' && event.state === 'read' ? [event.text] : [])
  const request = [run.request, ...said].join('\n\n').trimStart()
  const answer = await askJudge({ ...run, request, report, calls }, deps, signal)
  if ('refused' in answer && answer.refused) throw answer.refused
  if ('problem' in answer) deps.log.warn({ problem: answer.problem }, 'no model judged a run; its calls alone decide')
  const { quotedClaims, quotedFailure, quotedGaps } = await import('./quoted.ts')
  const judgement: Judgement = 'value' in answer ? answer.value : {}
  const claims = await quotedClaims(judgement, { report, calls, cwd, signal })
  // Without a judge, the claims that were contradicted in the first version still count as contradicted.
  if ('problem' in answer) claims.push(...earlier.filter(({ verdict }) => verdict === 'contradicted'))
  const admission = quotedFailure(judgement, { report, calls })
  const isAdmitted = admission !== undefined && await saysFailed({ request, sentence: admission }, deps, signal)
  const missing = quotedGaps(judgement, request)
  const isCutOff = endsCutOff(events)
  const expected = { expects, find: deps.host.find }
  const problem = 'problem' in answer ? answer.problem : judgement.outcome === undefined ? 'said nothing of the outcome' : undefined
  const evaluation = evaluate({ judgement, problem, isAdmitted, missing, claims, calls, report, isCutOff, expected })
  const isWanted = missing.length > 0 || claims.some(({ verdict }) => verdict === 'contradicted')
  const unknown = calls.filter(({ status, proves }) => status === 'unknown' && proves !== undefined)
  return {
    evaluation,
    ...(isWanted && { refinement: refinementPrompt(evaluation, unknown.map(nameOf), object !== undefined) }),
    isBroken: report === '' || isCutOff
  }
}

const NO_JUDGE: NoAnswer = { problem: 'is not there, because offline models do not judge' }

async function askJudge (
  { request, criteria, plan, report, calls }: JudgedRun & { report: string, calls: CallFact[] },
  { registry, clock, meter }: JudgeDeps,
  signal: AbortSignal
): Promise<{ value: Judgement } | NoAnswer> {
  if (registry.roles().fast.startsWith('offline/')) return NO_JUDGE
  const { question, ...asked } = judgementPrompt
  const text = question({
    request: shorten(request, REQUEST_SHOWN),
    criteria,
    plan,
    index: indexOf(calls),
    calls: newestCalls(calls),
    report: shorten(report, REPORT_SHOWN)
  }, newId().slice(-8))
  const load = () => registry.model('fast')
  return askStructured({ ...asked, load, text, meter, limitMs: JUDGE_MS, signal, clock })
}

/** Asks the judge whether one sentence, taken alone, says that the run failed. */
async function saysFailed (
  { request, sentence }: { request: string, sentence: string },
  { registry, clock, meter }: JudgeDeps,
  signal: AbortSignal
): Promise<boolean> {
  const { question, ...asked } = failurePrompt
  const text = question(shorten(request, REQUEST_SHOWN), shorten(sentence, REPORT_SHOWN), newId().slice(-8))
  const load = () => registry.model('fast')
  const answer = await askStructured({ ...asked, load, text, meter, limitMs: JUDGE_MS, signal, clock })
  return 'value' in answer && answer.value.outcome === 'failed' && answer.value.satisfied !== true
}

/** True if the last answer of the model was cut off at the output limit. */
function endsCutOff (events: readonly RunEvent[]): boolean {
  const last = events.findLast((event) => event.type === 'step-finish')
  return last?.type === 'step-finish' && last.finishReason === 'length'
}
