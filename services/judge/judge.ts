import type { Log } from '../lib/log.ts'
import type { Claim, Evaluation } from '../../schemas/evaluation.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import {
  askStructured,
  type Judgement,
  judgementPrompt,
  type Material,
  type NoAnswer,
  refinementPrompt,
  type Registry
} from '../models/index.ts'
import { isAnswerCall } from '../runs/index.ts'
import { type RunEvent, answerText } from '../contracts/run-events.ts'
import { type Meter, isBudgetError } from '../usage/index.ts'
import { callFacts, type CallFact, type FindTool } from './call-facts.ts'
import type { Expects } from '../../schemas/tasks.ts'
import { evaluate } from './evaluate.ts'
import { indexOf, nameOf, newestCalls, shorten } from './material.ts'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'

/** Deadline of the judge; milliseconds. Without an answer in time the calls alone decide. */
const JUDGE_MS = 15_000
const MAX_ANSWER_TOKENS = 4_000
const GOAL_SHOWN = 8_000
const REPORT_SHOWN = 16_000

export interface JudgeDeps {
  registry: Pick<Registry, 'roles' | 'model'>
  host: { find: FindTool }
  clock: Clock
  meter: Meter
  log: Pick<Log, 'warn'>
}

/** A run that has reported, with the events of its log. */
interface JudgedRun extends Pick<Material, 'goal' | 'request' | 'criteria' | 'plan'> {
  events: readonly RunEvent[]
  /** The folder that relative paths of the run resolve against. */
  cwd: string
  /** The structured answer of the run. */
  object?: object
  /** What the plan expects the run to leave; absent where there is no plan. */
  expects?: Expects
  /** The claims of the report before the refinement. */
  earlier?: Claim[]
}

/**
 * Judges a run. The model of role `fast` reads the report and lists what it claims; code checks each claim by the recorded calls, their
 * files and nothing else. `refinement` is the message with which the run may mend its work once. Rejects only with the signal's reason,
 * and with the budget's error when the judge may not be asked.
 */
export async function judgeRun (
  run: JudgedRun,
  deps: JudgeDeps,
  signal: AbortSignal
): Promise<{ evaluation: Evaluation, refinement: string, report: string }> {
  const { events, cwd, object, expects, earlier = [] } = run
  const calls = callFacts(object === undefined ? events : events.filter((event) => !isAnswerCall(event)), deps.host.find, cwd)
  const text = answerText(events).trim()
  const report = object === undefined ? text : `${text}\n\nThe answer as data:\n${JSON.stringify(object)}`.trimStart()
  // What the user said meanwhile is a part of the request.
  const said = events.flatMap((event) => event.type === 'steer' && event.state === 'read' ? [event.text] : [])
  const request = said.length === 0 ? run.request : [run.request ?? '', ...said].join('\n\n').trimStart()
  const answer = await askJudge({ ...run, request, report, calls }, deps, signal)
  if ('refused' in answer && answer.refused) throw answer.refused
  if ('problem' in answer) deps.log.warn({ problem: answer.problem }, 'no model judged a run; its calls alone decide')
  // Claims that were found wrong before the refinement do not become right because nobody judges it.
  const asserted = 'value' in answer ? answer.value.claims : earlier.filter(({ verdict }) => verdict === 'contradicted')
  const { verifyClaims } = await import('./verify-claims.ts')
  const claims = await verifyClaims(asserted, { calls, cwd, signal })
  const expected = { expects, find: deps.host.find }
  const evaluation = evaluate({ ...answer, claims, calls, report, isCutOff: isCutOff(events), expected })
  const unknown = calls.filter(({ status, proves }) => status === 'unknown' && proves !== undefined)
  return { evaluation, refinement: refinementPrompt(evaluation, unknown.map(nameOf), object !== undefined), report: text }
}

async function askJudge (
  { goal, request, criteria, plan, report, calls }: JudgedRun & { report: string, calls: CallFact[] },
  { registry, clock, meter }: JudgeDeps,
  signal: AbortSignal
): Promise<{ value: Judgement } | NoAnswer> {
  if (registry.roles().fast.startsWith('offline/')) return { problem: 'is not there, because offline models do not judge' }
  const { question, ...asked } = judgementPrompt
  return askStructured({
    ...asked,
    load: () => registry.model('fast'),
    text: question({
      goal: shorten(goal, GOAL_SHOWN),
      request: request && shorten(request, GOAL_SHOWN),
      criteria,
      plan,
      index: indexOf(calls),
      calls: newestCalls(calls),
      report: shorten(report, REPORT_SHOWN)
    }, newId().slice(-8)),
    maxAnswerTokens: MAX_ANSWER_TOKENS,
    meter,
    limitMs: JUDGE_MS,
    signal,
    clock
  })
}

/** Whether the last answer ended because it had reached its greatest length. */
function isCutOff (events: readonly RunEvent[]): boolean {
  const last = events.findLast((event) => event.type === 'step-finish')
  return last?.type === 'step-finish' && last.finishReason === 'length'
}

/**
 * Judges the answer to a complex request of a conversation, once in a run; undefined when it is not to be judged. `refinement` is
 * present when the answer is to be mended: a question to the user is not, because in a conversation the user answers it.
 */
export async function reviewAnswer (
  { events, prompt, cwd, object }: { events: readonly RunEvent[], prompt: LanguageModelV4Prompt, cwd: string, object?: object },
  deps: JudgeDeps,
  signal: AbortSignal
): Promise<{ evaluation: Evaluation, refinement?: string } | undefined> {
  const analysis = events.find((event) => event.type === 'analysis')?.analysis
  if (analysis?.complexity !== 'complex' || events.some(({ type }) => type === 'evaluation')) return undefined
  const { goal, qualityCriteria: criteria } = analysis
  const run = { goal, request: requestOf(prompt), criteria, plan: [], events, cwd, object }
  const judged = await judgeRun(run, deps, signal).catch((error) => {
    // The user has the answer already; a budget that is used up takes nothing from it.
    if (!isBudgetError(error)) throw error
  })
  if (!judged) return undefined
  const { evaluation, refinement } = judged
  const { satisfied, issues, outcome } = evaluation
  return { evaluation, ...(!satisfied && outcome !== 'asks' && issues.length > 0 && { refinement }) }
}

/** The user's words: the text of the last user message. */
function requestOf (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n') : ''
}
