import { isDeepStrictEqual } from 'node:util'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Reply } from './model.ts'
import { phasesOf } from './plan-phases.ts'
import { lastAnswer, lastRequest, type MadeCall } from './prompt.ts'
import { HELP, report, type Outcome } from './report.ts'
import { readSteps, type Step } from './split.ts'

/** Of what was no command, for it may be megabytes. */
const READ = 2_000
/** As the requests of tasks begin their user's remarks. */
const REMARK = /\n\nThe user adds: /

/** As a run is asked to mend what was found wanting in it. */
const REVIEW = /^A review of (?:this run|your answer) found:\n/

/**
 * Does what the last user message says in plain commands, one tool call an answer, and reports the results at the end.
 * It keeps no state: what was done already stands in the prompt.
 */
export function assistantReply ({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): Reply {
  const [request, ...remarks] = lastRequest(prompt).split(REMARK)
  // What plain commands could do was done: what came of it is the answer still.
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
    // A call whose input was changed on its way (defaults filled in) still is this step's, when it is the next in order.
    const equal = made.findIndex((call, index) => index >= next && same(call))
    const refused = made.find((call) => same(call) && call.output?.type === 'execution-denied')
    const at = equal < 0 && !refused && made[next]?.toolName === step.toolName ? next : equal
    if (at >= 0) {
      outcomes.push({ step, call: made[at] })
      phases.over(made[at])
      next = at + 1
      continue
    }
    // What was denied once is not asked for again.
    if (refused) {
      outcomes.push({ step, call: refused })
      phases.over(refused)
    } else if (offered.has(step.toolName)) return { toolCalls: [...phases.calls(), { toolName: step.toolName, input: step.input }] }
    else {
      outcomes.push({ step })
      phases.over()
    }
  }
  const last = phases.calls()
  return last.length > 0 ? { toolCalls: last } : { text: report(outcomes) }
}

/** What a task's user adds may steer it without being a command. */
const readRemark = (text: string): Step[] => readSteps(text).map((step) => step.kind === 'unread' ? { ...step, isRemark: true } : step)

function withoutCommands (unread: string[]): string {
  const text = unread.join(' ').slice(0, READ).replace(/\s+/g, ' ').trim()
  const quoted = text.length > 200 ? `${text.slice(0, 199)}…` : text
  return `${quoted ? `I could not read a command in “${quoted}”. ` : ''}${HELP}`
}
