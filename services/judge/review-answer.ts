import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Evaluation } from '../../schemas/evaluation.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { isBudgetError } from '../usage/index.ts'
import { judgeRun, type JudgeDeps } from './judge.ts'

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
export function requestOf (prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? message.content.map((part) => part.type === 'text' ? part.text : '').join('\n') : ''
}
