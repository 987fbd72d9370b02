import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { reviewIn, type RunEvent } from '../contracts/run-events.ts'
import type { Evaluation } from '../../schemas/evaluation.ts'
import { isBudgetError } from '../usage/index.ts'
import { type JudgeDeps, judgeRun } from './judge.ts'
import { betterVersion } from './versions.ts'

/** The review of an answer in a conversation. */
interface AnswerReview {
  evaluation?: Evaluation
  /** The message that asks for a second version of the answer; absent if the answer stands. */
  refinement?: string
  /** Second versions only: which of the two versions readers get. */
  kept?: 'first' | 'second'
}

/**
 * Reviews the answer to a complex request in a conversation, and the second version that such a review asked for. Returns
 * undefined if no review takes place. An answer that asks the user something needs no second version, because the user can reply.
 */
export async function reviewAnswer (
  { events, prompt, cwd, object, isLast }: {
    events: readonly RunEvent[],
    prompt: LanguageModelV4Prompt,
    cwd: string,
    object?: object,
    /** True if no step is left for a second version. */
    isLast: boolean
  },
  deps: JudgeDeps,
  signal: AbortSignal
): Promise<AnswerReview | undefined> {
  const isSecond = reviewIn(events) !== undefined
  const first = events.findLast((event) => event.type === 'evaluation')?.evaluation
  const isComplex = events.some((event) => event.type === 'analysis' && event.analysis.complexity === 'complex')
  if (isLast || !isComplex || (first !== undefined && !isSecond)) return isSecond ? { kept: 'first' } : undefined
  const run = { request: requestOf(prompt), criteria: [], plan: [], events, cwd, object, earlier: first?.claims }
  const judged = await judgeRun(run, deps, signal).catch((error) => {
    // The user has received the answer, so a used-up budget is no error here.
    if (!isBudgetError(error)) throw error
  })
  if (!judged) return isSecond ? { kept: 'first' } : undefined
  const { evaluation, refinement } = judged
  if (!isSecond) return { evaluation, ...(evaluation.outcome !== 'asks' && { refinement }) }
  const find = deps.host.find
  return { evaluation, kept: betterVersion({ first: { evaluation: first ?? {} }, second: judged }, { events, find, cwd }) }
}

/** Returns the user's request: the text of the last user message. */
function requestOf (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n') : ''
}
