import { isDeepStrictEqual } from 'node:util'
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ProviderTool } from '@ai-sdk/provider'
import { ANSWER_OPENING, ANSWER_TOOL, COMMENT_OPENING } from '../../../contracts/model-texts.ts'
import { phasesOf } from './plan-phases.ts'
import { callsMade, lastAnswer, lastRequest, type MadeCall } from './prompt.ts'
import type { Reply } from './reply-model.ts'
import { help, report, type Outcome } from './report.ts'
import { withScreenView } from './screen-places.ts'
import { readSteps, type Step } from './split.ts'

/** Opens the message that asks a run to correct the shortcomings that its evaluation found. */
const REVIEW = /^A review of (?:this run|your answer) found:\n/

/**
 * Carries out the plain commands of the last user message, one tool call per answer, and reports the results at the end.
 * The function keeps no state: the calls already made are read from the prompt.
 */
export function assistantReply ({ prompt, tools = [], toolChoice, responseFormat }: LanguageModelV4CallOptions): Reply {
  if (responseFormat?.type === 'json' || tools.some(isAnswerTool)) return { error: NO_OBJECTS }
  const [request, ...remarks] = lastRequest(prompt).split(`\n\n${COMMENT_OPENING}`)
  // All commands were carried out before the review, so the earlier report is the answer again.
  if (REVIEW.test(request)) return { text: `I was told to do nothing more. My report again:\n\n${lastAnswer(prompt)}` }
  const steps = [...readSteps(request), ...remarks.flatMap(readRemark)]
  if (!steps.some(({ kind }) => kind === 'command')) return { text: help(steps) }

  const offered = new Set(toolChoice?.type === 'none' ? [] : tools.map(({ name }) => name))
  const phases = phasesOf(prompt, offered, steps)
  const made = callsMade(prompt).filter(({ toolName }) => toolName !== phases.toolName)
  const outcomes: Outcome[] = []
  let next = 0
  for (const step of steps) {
    if (step.kind === 'unread') {
      outcomes.push({ step })
      continue
    }
    const { toolName, input } = step
    const isSame = (call: MadeCall) => call.toolName === toolName && isDeepStrictEqual(call.input, input)
    const equal = made.findIndex((call, index) => index >= next && isSame(call))
    // A call that the user denied is not requested again.
    const denied = made.find((call) => isSame(call) && call.output?.type === 'execution-denied')
    // The next call in order belongs to this step even if its input was changed on the way, such as by defaults.
    const at = equal < 0 && !denied && made[next]?.toolName === toolName ? next : equal
    const call = made[at] ?? denied
    if (call === undefined && offered.has(toolName)) {
      return { toolCalls: [...phases.updates, { toolName, input: withScreenView(toolName, input, made) }] }
    }
    if (at >= 0) next = at + 1
    outcomes.push({ step, ...call && { call } })
    phases.complete(call)
  }
  return phases.updates.length > 0 ? { toolCalls: phases.updates } : { text: report(outcomes) }
}

const NO_OBJECTS = 'It reads plain commands and cannot make the object that options.object asks for. Connect a language model in the ' +
  'settings, or let offline/scripted call the tool answer.'

/** Whether a tool is the one by which a run gives a structured answer; a tool server may have one of the same name. */
const isAnswerTool = (tool: LanguageModelV4FunctionTool | LanguageModelV4ProviderTool): boolean =>
  tool.type === 'function' && tool.name === ANSWER_TOOL && tool.description?.startsWith(ANSWER_OPENING) === true

/** Reads a remark on a task. Its text may steer the task without being a command. */
const readRemark = (text: string): Step[] => readSteps(text).map((step) => step.kind === 'unread' ? { ...step, isRemark: true } : step)
