import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Analysis } from '../../schemas/agent.ts'
import { abortKind } from '../lib/abort.ts'
import { isServiceError } from '../lib/own-error.ts'
import type { FinishReason, RunEvent, Usage } from '../run-log/run-events.ts'
import { foldToModelMessages } from '../run-log/fold.ts'
import { analyze } from './analyze.ts'
import { stepLimit } from './step-limits.ts'
import { boundTo } from '../approvals/approved-folder.ts'
import { requestEvent } from './ask-anew.ts'
import { refuseCalls, settleCalls, type AskedCall, type RunAttempt } from '../step/settle-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import { reviewAnswer } from '../judge/review-answer.ts'
import type { ThreadPlacement } from './thread-history.ts'
import type { ActiveRun } from './active-runs.ts'
import { withRecentImages } from '../models/recent-images.ts'
import { streamModel } from '../models/stream-call.ts'
import { openCompactor } from '../models/compaction/open-compactor.ts'
import type { Compactor } from '../models/compaction/compactor.ts'
import { STEPS_USED_UP, withDenials } from './system-prompt.ts'
import { endSegment, recordAnswer } from './answer-record.ts'
import { runContext, type PromptInputs } from './run-prompt.ts'
import { checkLength, commit } from './run-repository.ts'
import { createIdSource, createStepWriter, type IdSource, type StepResult } from '../step/step-writer.ts'

/** A run's request, converted for the model. */
export interface Context extends PromptInputs, ThreadPlacement {
  prompt: LanguageModelV4Prompt
}

const USED_UP: LanguageModelV4Message = { role: 'user', content: [{ type: 'text', text: STEPS_USED_UP }] }

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
  live.run.head = { ...head, maxSteps: stepLimit(config(), analysis.complexity) }
  return analysis
}

/** Runs steps until the model has answered or an approval is needed. The events end with `finish`. */
export async function runSteps (attempt: RunAttempt, context: Context, deps: AgentDeps) {
  const { live } = attempt
  const { run } = live
  const ids = createIdSource(run.log.events, context.prompt)
  const { threadId } = run.head
  const compactor = await openCompactor({
    registry: deps.registry,
    clock: deps.clock,
    signal: live.signal,
    load: () => deps.threads.summaries(threadId),
    // A failed write costs only time: the summary is then made again.
    keep: (summaries) =>
      deps.threads.keepSummaries(threadId, summaries).catch((error) => deps.log.error({ err: error }, 'a summary could not be stored')),
    onCompaction: (done) => run.log.append({ type: 'compaction', ...done })
  })
  for (;;) {
    const step = run.head.steps + 1
    const isLast = step > run.head.maxSteps
    const { unheard = [], ...head } = run.head
    run.head = head
    for (const text of [...unheard, ...live.drainSteering()]) run.log.append({ type: 'message', text })
    run.log.append({ type: 'step-start', step })
    await deps.host.ready(live.signal)
    const { calls, finishReason, usage } = await callModel(attempt, context, { isLast, ids, compactor }, deps)
    if (isLast) refuseCalls(calls, attempt, deps)
    const approvalCalls = isLast ? [] : await settleCalls(calls, attempt, deps)
    run.head = { ...run.head, steps: step, usage: add(run.head.usage, usage) }
    const stepFinish: RunEvent = { type: 'step-finish', step, finishReason, usage }
    if (approvalCalls.length > 0) return ask(approvalCalls, stepFinish, attempt, deps)
    const isAnswer = isLast || calls.length === 0
    const review = isAnswer && !isLast && !live.isSteered ? await reviewOnce(attempt, context, stepFinish, deps) : undefined
    // Check for steering again, because messages may arrive during the review.
    if (isAnswer && review === undefined && !live.isSteered) return finish(finishReason, stepFinish, attempt, deps)
    run.log.append(stepFinish)
    if (review !== undefined) run.log.append({ type: 'message', text: review })
    if (run.durable) await commit(run, deps)
  }
}

/** Judges the answer to a complex request, once in a run. Returns the prompt for a refinement; undefined if the answer is accepted. */
async function reviewOnce ({ live: { run, signal } }: RunAttempt, { prompt }: Context, stepFinish: RunEvent, deps: AgentDeps) {
  const review = await reviewAnswer({ events: [...run.log.events, stepFinish], prompt, cwd: run.head.cwd }, deps, signal)
  if (review !== undefined) run.log.append({ type: 'evaluation', evaluation: review.evaluation })
  return review?.refinement
}

/**
 * Streams one model call. The last step still describes the tools, with tool choice `none`, because providers refuse a
 * history with calls of tools that the request does not describe.
 */
async function callModel (
  attempt: RunAttempt,
  context: Context,
  { isLast, ids, compactor }: { isLast: boolean, ids: IdSource, compactor: Compactor },
  deps: AgentDeps
): Promise<StepResult> {
  const { registry, clock, host } = deps
  const { live, conversation } = attempt
  const { run, signal } = live
  const { prompt, older, places } = context
  const { system: baseSystem, tools } = await runContext(attempt, context, deps)
  const system = withDenials(baseSystem, conversation.denials)
  const writer = createStepWriter({ append: run.log.append, ids })
  const messages = withRecentImages([...prompt, ...foldToModelMessages(run.log.events, host.forModel)])
  const latest = prompt.findLastIndex(({ role }) => role === 'user')
  await streamModel({
    models: registry.candidates('capable'),
    load: registry.model,
    describe: registry.describeFailure,
    async prompt (id, tooLong) {
      const compacted = await compactor.compact(id, { system, messages, latest, tools, older, places }, tooLong)
      return isLast && compacted !== undefined ? [...compacted, USED_UP] : compacted
    },
    options: tools.length > 0 ? { tools, toolChoice: { type: isLast ? 'none' : 'auto' } } : {},
    signal,
    clock,
    onPart (part, id) {
      writer.write(part, id)
      checkLength(run.log)
      return live.backpressure()
    }
  })
  return writer.result
}

/** Requests approvals: stores them before any reader sees them, ends the stream, and leaves the run waiting. */
async function ask (calls: AskedCall[], stepFinish: RunEvent, { live, conversation }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  const { runId, threadId, segment } = run.head
  const { approvals, ops } = deps.ledger.ask(
    calls.map(({ folder, ...call }) => ({
      ...call,
      ...boundTo(folder),
      identity: deps.host.identity(call.toolName),
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

/** Ends a run that has answered. */
export function finish (finishReason: FinishReason, stepFinish: RunEvent, { live }: RunAttempt, deps: AgentDeps) {
  const { run } = live
  live.endSteering()
  return endSegment(run, deps, { finalEvents: [stepFinish, { type: 'finish', finishReason, usage: run.head.usage }] })
}

/**
 * Ends a run that was aborted or failed, with the reason in its stream. A run that the user stopped is finished on disk, too.
 * Any other stored run keeps its last stored step, so that sending the same approval answer again continues from there.
 * Except after a deletion, the thread gets the messages of the run in either case.
 */
export async function endEarly (live: ActiveRun, error: unknown, deps: Pick<AgentDeps, 'store' | 'clock' | 'threads' | 'ledger' | 'log'>) {
  const { run } = live
  live.endSteering()
  const kind = abortKind(error)
  const finishReason = kind !== undefined && kind !== 'timeout' ? 'other' : 'error'
  const finalEvents: RunEvent[] = [reasonOf(error, run.head.runId, deps.log), { type: 'finish', finishReason, usage: run.head.usage }]
  try {
    // A deleted conversation must not be written again; only wait for the write of its request.
    if (kind === 'delete') await run.saved
    else if (kind === 'stop' || !run.durable) return await endSegment(run, deps, { finalEvents })
    else await deps.store.transact(await recordAnswer(run, deps, finalEvents))
  } catch (failed) {
    deps.log.error({ err: failed, runId: run.head.runId }, 'the end of a run could not be stored')
  }
  finalEvents.forEach(run.log.append)
}

function reasonOf (error: unknown, runId: string, log: AgentDeps['log']): RunEvent {
  const kind = abortKind(error)
  if (kind === 'timeout') return { type: 'error', errorText: (error as Error).message, code: 'ERR_TIMEOUT' }
  if (kind !== undefined) return { type: 'abort', reason: kind }
  if (isServiceError(error)) return { type: 'error', errorText: error.message, code: error.code }
  log.error({ err: error, runId }, 'run failed')
  return { type: 'error', errorText: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL' }
}

const add = (a: Usage, b: Usage): Usage => ({ inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens })
