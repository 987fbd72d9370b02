import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Analysis } from '../../schemas/agent.ts'
import type { FinishReason, RunEvent, Usage } from '../run-log/run-events.ts'
import { foldToModelMessages } from '../run-log/fold.ts'
import { boundTo } from '../approvals/approved-folder.ts'
import { evaluateAnswer, refinementPrompt } from '../judge/evaluate-answer.ts'
import { createModelSteps } from '../step/model-step.ts'
import type { AskedCall } from '../step/step-calls.ts'
import { createIdSource } from '../step/step-writer.ts'
import type { AgentDeps } from './agent-deps.ts'
import { analyze } from './analyze.ts'
import { endSegment } from './answer-record.ts'
import { requestEvent } from './ask-anew.ts'
import { finish } from './end-run.ts'
import type { RunAttempt } from './run-attempt.ts'
import { settleStep } from './run-calls.ts'
import { runContext, type PromptInputs } from './run-prompt.ts'
import { checkLength, commit } from './run-repository.ts'
import { withDenials } from './system-prompt.ts'
import type { ThreadPlacement } from './thread-history.ts'

/** The number of steps with tools, by complexity. After them the model must answer without tools. */
const STEPS = { simple: 3, standard: 10, complex: 25, long_running: 25 } as const

/** A run's request, converted for the model. */
export interface Context extends PromptInputs, ThreadPlacement {
  prompt: LanguageModelV4Prompt
}

/**
 * Classifies the request with the fast model, streams the analysis as reasoning, and sets the run's maximum number of steps.
 * Returns undefined if the configuration disables the analysis.
 */
export async function analyzeRun (
  { live }: RunAttempt,
  { prompt }: Context,
  { registry, clock, config }: AgentDeps
): Promise<Analysis | undefined> {
  const { run: { log, head }, signal } = live
  if (config().analysis === false) return
  log.append({ type: 'reasoning-start', id: 'analysis', phase: 'analysis' })
  const analysis = await analyze({ load: () => registry.model('fast'), prompt, signal, clock })
  log.append({ type: 'reasoning-delta', id: 'analysis', delta: analysis.thinking })
  log.append({ type: 'reasoning-end', id: 'analysis' })
  log.append({ type: 'analysis', analysis })
  live.run.head = { ...head, maxSteps: STEPS[analysis.complexity] }
  return analysis
}

/** Runs steps until the model has answered or an approval is needed. The events end with `finish`. */
export async function runSteps (attempt: RunAttempt, context: Context, deps: AgentDeps) {
  const { live } = attempt
  const { run } = live
  const callModel = createModelCalls(attempt, context, deps)
  let interrupted = interruptedStep(run.log.events)
  for (;;) {
    const { step, isAnswer, finishReason, usage } = interrupted ?? await callModel()
    interrupted = undefined
    const approvalCalls = await settleStep(attempt, deps)
    const stepFinish: RunEvent = { type: 'step-finish', step, finishReason, usage }
    if (approvalCalls.length > 0) return ask(approvalCalls, stepFinish, attempt, deps)
    const review = isAnswer && step <= run.head.maxSteps && !live.isSteered ? await reviewOnce(attempt, deps) : undefined
    // Check for steering again, because messages may arrive during the review.
    if (isAnswer && review === undefined && !live.isSteered) return finish(finishReason, stepFinish, attempt, deps)
    run.log.append(stepFinish)
    if (review !== undefined) run.log.append({ type: 'message', text: review })
    if (run.durable) await commit(run, deps)
  }
}

/** A step whose model call is complete. */
interface CalledStep {
  step: number
  /** The step is the model's answer: it has no calls, or none that may run. */
  isAnswer: boolean
  finishReason: FinishReason
  usage: Usage
}

/**
 * Returns the step that was interrupted by a crash after one of its tools had been started; its other calls are settled
 * instead of calling the model again. The tokens of the step are part of the run's total.
 */
function interruptedStep (events: readonly RunEvent[]): CalledStep | undefined {
  const edge = events.findLast(({ type }) => type === 'step-start' || type === 'step-finish')
  return edge?.type === 'step-start'
    ? { step: edge.step, isAnswer: false, finishReason: 'tool-calls', usage: { inputTokens: 0, outputTokens: 0 } }
    : undefined
}

/** Returns the function that makes the model call of the next step, with the steering that arrived before it. */
function createModelCalls (attempt: RunAttempt, context: Context, deps: AgentDeps) {
  const { live, conversation: { denials } } = attempt
  const { run, signal } = live
  const { registry, clock, host, threads } = deps
  const { prompt, older, places } = context
  const { threadId } = run.head
  const modelStep = createModelSteps({
    registry,
    clock,
    signal,
    tools: host,
    ids: createIdSource(run.log.events, prompt),
    summaries: {
      load: () => threads.summaries(threadId),
      // A failed write costs only time: the summary is then made again.
      keep: (summaries) =>
        threads.keepSummaries(threadId, summaries).catch((error) => deps.log.error({ err: error }, 'a summary could not be stored'))
    },
    append: run.log.append,
    afterPart () {
      checkLength(run.log)
      return live.backpressure()
    }
  })

  return async (): Promise<CalledStep> => {
    const step = run.head.steps + 1
    const isLast = step > run.head.maxSteps
    const { unheard = [], ...head } = run.head
    run.head = head
    const { calls, finishReason, usage } = await modelStep({
      step,
      isLast,
      notes: [...unheard, ...live.drainSteering()],
      messages: [...prompt, ...foldToModelMessages(run.log.events, host.forModel)],
      latest: prompt.findLastIndex(({ role }) => role === 'user'),
      older,
      places,
      async context () {
        const { system, tools } = await runContext(attempt, context, deps)
        return { system: withDenials(system, denials), tools }
      }
    })
    run.head = { ...run.head, steps: step, usage: add(run.head.usage, usage) }
    return { step, isAnswer: isLast || calls.length === 0, finishReason, usage }
  }
}

/** Judges the answer to a complex request, once in a run. Returns the prompt for a refinement; undefined if the answer is accepted. */
async function reviewOnce ({ live: { run: { log }, signal } }: RunAttempt, { registry, clock }: AgentDeps): Promise<string | undefined> {
  const analysis = log.events.find((event) => event.type === 'analysis')?.analysis
  if (analysis?.complexity !== 'complex' || log.events.some(({ type }) => type === 'evaluation')) return undefined
  const evaluation = await evaluateAnswer({ load: () => registry.model('fast'), analysis, events: log.events, signal, clock })
  if (evaluation === undefined) return undefined
  log.append({ type: 'evaluation', evaluation })
  return evaluation.satisfied || evaluation.issues.length === 0 ? undefined : refinementPrompt(evaluation)
}

/** Requests approvals: stores them before any reader sees them, ends the stream, and leaves the run waiting. */
async function ask (calls: AskedCall[], stepFinish: RunEvent, { live, conversation }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  const { runId, threadId, segment } = run.head
  const { approvals, ops } = deps.ledger.ask(
    calls.map(({ toolCallId, toolName, input, folder }) => ({
      toolCallId,
      toolName,
      input,
      ...boundTo(folder),
      identity: deps.host.identity(toolName),
      runId,
      threadId,
      segment
    }))
  )
  run.head = { ...run.head, asked: approvals.map(({ approvalId }) => approvalId), unheard: live.endSteering() }
  await endSegment(run, deps, {
    finalEvents: [...approvals.map(requestEvent), stepFinish, { type: 'finish', finishReason: 'tool-calls', usage: run.head.usage }],
    ops: [...ops, deps.conversations.asked(conversation, runId)]
  })
}

const add = (a: Usage, b: Usage): Usage => ({ inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens })
