import { isDeepStrictEqual } from 'node:util'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Reply } from './model.ts'
import { phasesOf } from './plan-phases.ts'
import { lastAnswer, lastRequest, type MadeCall } from './prompt.ts'
import { HELP, report, type Outcome } from './report.ts'
import { readSteps, type Step } from './split.ts'

/** Characters of unread text that are quoted from; the text may hold megabytes. */
const MAX_UNREAD_LENGTH = 2_000
/** Separates the user's remarks from the goal in the request of a task's run. */
const REMARK = /\n\nThe user adds: /

/** Opens the message that asks a run to correct the shortcomings that its evaluation found. */
const REVIEW = /^A review of (?:this run|your answer) found:\n/

/**
 * Carries out the plain commands of the last user message, one tool call per answer, and reports the results at the end.
 * The function keeps no state: the calls already made are read from the prompt.
 */
export function assistantReply ({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): Reply {
  const [request, ...remarks] = lastRequest(prompt).split(REMARK)
  // All commands were carried out before the review, so the earlier report is the answer again.
  if (REVIEW.test(request)) return { text: `I was told to do nothing more. My report again:\n\n${lastAnswer(prompt)}` }
  const steps = [...readSteps(request), ...remarks.flatMap(readRemark)]
  if (!steps.some((step) => step.kind === 'command')) {
    return { text: withoutCommands(steps.map((step) => step.kind === 'unread' ? step.text : '')) }
  }
  const offered = new Set(toolChoice?.type === 'none' ? [] : tools.map((tool) => tool.name))
  const { made, report: phases } = phasesOf(prompt, tools, steps)
  const outcomes: Outcome[] = []
  let next = 0
  for (const step of steps) {
    if (step.kind === 'unread') {
      outcomes.push({ step })
      continue
    }
    const same = (call: MadeCall) => call.toolName === step.toolName && isDeepStrictEqual(call.input, step.input)
    // The next call in order belongs to this step even if its input was changed on the way, such as by defaults.
    const equal = made.findIndex((call, index) => index >= next && same(call))
    const refused = made.find((call) => same(call) && call.output?.type === 'execution-denied')
    const at = equal < 0 && !refused && made[next]?.toolName === step.toolName ? next : equal
    if (at >= 0) {
      outcomes.push({ step, call: made[at] })
      phases.complete(made[at])
      next = at + 1
      continue
    }
    // A call that the user denied is not requested again.
    if (refused) {
      outcomes.push({ step, call: refused })
      phases.complete(refused)
    } else if (offered.has(step.toolName)) return { toolCalls: [...phases.calls(), { toolName: step.toolName, input: step.input }] }
    else {
      outcomes.push({ step })
      phases.complete()
    }
  }
  const last = phases.calls()
  return last.length > 0 ? { toolCalls: last } : { text: report(outcomes) }
}

/** Reads a remark on a task. Its text may steer the task without being a command. */
const readRemark = (text: string): Step[] => readSteps(text).map((step) => step.kind === 'unread' ? { ...step, isRemark: true } : step)

function withoutCommands (unread: string[]): string {
  const text = unread.join(' ').slice(0, MAX_UNREAD_LENGTH).replace(/\s+/g, ' ').trim()
  const quoted = text.length > 200 ? `${text.slice(0, 199)}…` : text
  return `${quoted ? `I could not read a command in “${quoted}”. ` : ''}${HELP}`
}
