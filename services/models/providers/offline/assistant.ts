import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { callsMade, chosenSkill, type MadeCall, lastAnswer, lastRequest } from './prompt.ts'
import { type Step, readSteps } from './steps.ts'
import { valueOf, help, report, type Outcome, type ToolOf } from './report.ts'
import { isDeepStrictEqual } from 'node:util'
import { ANSWER_OPENING, ANSWER_TOOL, COMMENT_OPENING, COMMENTS_HEADING, READ_SKILL } from '../../../contracts/model-texts.ts'
import { laterWorkReply } from './later-work.ts'
import type { Reply } from '../reply-model.ts'

const TOOL = 'updatePhase'

/**
 * Collects the updates of a task's phases that are due. A phase is complete when its command is. This needs a plan with one phase per
 * command; with any other plan nothing is updated.
 */
function phasesOf (prompt: LanguageModelV4Prompt, offered: Set<string>, steps: Step[]) {
  const listed = prompt.flatMap(({ role, content }) =>
    role === 'system' ? [...content.matchAll(/^- (phase-\d+)(?:: | \()/gm)].map(([, id]) => id) : []
  )
  const isOnePerCommand = offered.has(TOOL) && listed.length === steps.filter(({ kind }) => kind === 'command').length
  const phases = isOnePerCommand ? listed : []
  const reported = callsMade(prompt).flatMap(({ toolName, input }) => toolName === TOOL ? [(input as { phase?: string }).phase] : [])
  const updates: Array<{ toolName: string, input: unknown }> = []
  return {
    updates,
    /** Marks the next phase as complete; `call` is the call of its command, if one was made. */
    complete (call?: MadeCall) {
      const phase = phases.shift()
      if (phase !== undefined && !reported.includes(phase)) updates.push({ toolName: TOOL, input: { phase, status: statusOf(call) } })
    }
  }
}

function statusOf (call?: MadeCall) {
  if (call?.output === undefined) return 'failed'
  return call.output.type === 'execution-denied' ? 'skipped' : call.output.type.startsWith('error') ? 'failed' : 'completed'
}

/**
 * Adds the view of the whole screen to the input of a call if the last screenshot was scaled. The user names pixels of the screen, and
 * after a scaled screenshot the tool refuses positions without a view.
 */
function withScreenView (toolName: string, input: object, made: MadeCall[]): object {
  if (!['click', 'scroll'].includes(toolName) || !('x' in input)) return input
  const output = made.findLast((call) => call.toolName === 'screenshot')?.output
  if (output === undefined || output.type === 'execution-denied') return input
  const { view, screen } = valueOf(output) as { view?: unknown, screen?: { width: number, height: number } }
  if (view === undefined || screen === undefined) return input
  const { width, height } = screen
  return { ...input, view: { x: 0, y: 0, width, height, imageWidth: width, imageHeight: height } }
}

/** Matches the beginning of the message that asks a run to correct the shortcomings that its evaluation found. */
const REVIEW = /^A review of (?:this run|your answer) found:\n/

/**
 * Carries out the plain commands of the last user message, one tool call per answer, and reports the results at the end.
 * The function keeps no state: the calls already made are read from the prompt.
 */
export function assistantReply (
  { prompt, tools = [], toolChoice, responseFormat }: LanguageModelV4CallOptions,
  toolOf: ToolOf = () => undefined
): Reply {
  if (responseFormat?.type === 'json' || tools.some(isAnswerTool)) return { error: NO_OBJECTS }
  const [begun, ...added] = lastRequest(prompt).split(`\n\n${COMMENT_OPENING}`)
  const [request, comments] = begun.split(`\n\n${COMMENTS_HEADING}\n- `)
  const remarks = [...comments?.split('\n- ') ?? [], ...added]
  // All commands were carried out before the review, so the earlier report is the answer again.
  if (REVIEW.test(request)) return { text: `I was told to do nothing more. My report again:\n\n${lastAnswer(prompt)}` }
  const offered = new Set(toolChoice?.type === 'none' ? [] : tools.map(({ name }) => name))
  const later = tools.some(({ name }) => name === TOOL) ? undefined : laterWorkReply(prompt, offered)
  if (later !== undefined) return later
  const skill = chosenSkill(prompt)
  const first: Step[] = skill === undefined ? [] : [{ kind: 'command', toolName: READ_SKILL, input: { name: skill } }]
  const steps = [...first, ...readSteps(request), ...remarks.flatMap(readRemark)]
  if (!steps.some(({ kind }) => kind === 'command')) return { text: help(steps) }

  const phases = phasesOf(prompt, offered, steps)
  const made = callsMade(prompt).filter(({ toolName }) => toolName !== TOOL)
  const outcomes: Outcome[] = []
  let next = 0
  for (const step of steps) {
    if (step.kind === 'unread') {
      outcomes.push({ step })
      continue
    }
    const { toolName, input } = step
    const isSame = (call: MadeCall) => call.toolName === toolName && isDeepStrictEqual(call.input, input)
    // A call that the user denied is not requested again.
    const denied = made.find((call) => isSame(call) && call.output?.type === 'execution-denied')
    // The next call belongs to this step even if its input was changed on the way, for example by defaults.
    const isNext = made[next]?.toolName === toolName && (denied === undefined || isSame(made[next]))
    const call = isNext ? made[next++] : denied
    if (call === undefined && offered.has(toolName)) {
      return { toolCalls: [...phases.updates, { toolName, input: withScreenView(toolName, input, made) }] }
    }
    outcomes.push({ step, ...call && { call } })
    phases.complete(call)
  }
  return phases.updates.length > 0 ? { toolCalls: phases.updates } : { text: report(outcomes, toolOf) }
}

const NO_OBJECTS = 'It reads plain commands and cannot make the object that options.object asks for. Connect a language model in the ' +
  'settings, or let offline/scripted call the tool answer.'

/** True if a tool is the one with which a run gives its structured answer. A tool server can have a tool of the same name. */
const isAnswerTool = (tool: NonNullable<LanguageModelV4CallOptions['tools']>[number]): boolean =>
  tool.type === 'function' && tool.name === ANSWER_TOOL && tool.description?.startsWith(ANSWER_OPENING) === true

/** Reads a comment on a task. Its text can steer the task without being a command. */
const readRemark = (text: string): Step[] => readSteps(text).map((step) => step.kind === 'unread' ? { ...step, isRemark: true } : step)
