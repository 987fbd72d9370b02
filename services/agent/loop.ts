import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { createError } from '@fastify/error'
import { abortKind } from '../abort.ts'
import type { FinishReason, RunEvent, Usage } from '../runlog/events.ts'
import { fold } from '../runlog/fold.ts'
import { LOG_LIMIT } from '../runlog/runlog.ts'
import type { Tool } from '../tools/contract.ts'
import { analyze } from './analyze.ts'
import { settleCalls, type Attempt, type ReadyCall } from './calls.ts'
import type { AgentDeps } from './deps.ts'
import type { LiveRun } from './live.ts'
import { ModelFailed, streamModel } from './model-call.ts'
import { systemPrompt } from './prompt.ts'
import { commit } from './run.ts'
import { createIdSource, createStepWriter, type IdSource, type StepResult } from './step.ts'

const RunTooLong = createError('ERR_RUN_TOO_LONG', 'The answer grew beyond 16 MiB and was stopped.')

/** Steps with tools, by complexity. When they are used up, the model answers with what it has. */
const STEPS = { simple: 3, standard: 10, complex: 25, long_running: 25 } as const

/** A run's request, ready for the model. */
export interface Context { prompt: LanguageModelV4Prompt, instructions: string[] }

/** Classifies the request with the fast model, thinking aloud, and sets how many steps the run may take. */
export async function analyzeRun ({ live }: Attempt, { prompt }: Context, { registry, clock, config }: AgentDeps) {
  const { run: { log, head }, signal } = live
  if (config().analysis === false) return
  log.append({ type: 'reasoning-start', id: 'analysis', phase: 'analysis' })
  const analysis = await analyze({ load: () => registry.model('fast'), prompt, signal, clock })
  log.append({ type: 'reasoning-delta', id: 'analysis', delta: analysis.thinking })
  log.append({ type: 'reasoning-end', id: 'analysis' })
  log.append({ type: 'analysis', analysis })
  live.run.head = { ...head, maxSteps: STEPS[analysis.complexity] }
}

/** Step after step until the model has answered or a person must be asked. Ends with a `finish` event. */
export async function runSteps (attempt: Attempt, context: Context, deps: AgentDeps) {
  const { live } = attempt
  const { run } = live
  const ids = createIdSource(run.log.events, context.prompt)
  for (;;) {
    const step = run.head.steps + 1
    const isLast = step > run.head.maxSteps
    run.log.append({ type: 'step-start', step })
    const { calls, finishReason, usage } = await callModel(attempt, context, isLast ? [] : deps.host.offered(), ids, deps)
    const questions = isLast ? [] : await settleCalls(calls, attempt, deps)
    run.head = { ...run.head, steps: step, usage: add(run.head.usage, usage) }
    const stepFinish: RunEvent = { type: 'step-finish', step, finishReason, usage }
    if (questions.length > 0) return ask(questions, stepFinish, attempt, deps)
    if (calls.length === 0 || isLast) return finish(finishReason, stepFinish, attempt, deps)
    run.log.append(stepFinish)
    if (run.durable) await commit(run, deps)
  }
}

async function callModel ({ live, conversation }: Attempt, { prompt, instructions }: Context, tools: Tool[], ids: IdSource, deps: AgentDeps): Promise<StepResult> {
  const { registry, clock, host } = deps
  const { run, signal } = live
  const system = systemPrompt({ cwd: run.head.cwd, tools: tools.map(({ name }) => name), memory: await deps.memory(), denials: conversation.denials, instructions, now: clock.now() })
  const writer = createStepWriter({ append: run.log.append, ids })
  await streamModel({
    models: registry.candidates('capable'),
    load: registry.model,
    describe: registry.describeFailure,
    options: {
      prompt: [system, ...prompt, ...fold(run.log.events, host.forModel)],
      ...(tools.length > 0 && { tools: tools.map(toFunctionTool), toolChoice: { type: 'auto' } })
    },
    signal,
    clock,
    onPart (part) {
      writer.write(part)
      if (run.log.bytes > LOG_LIMIT) throw new RunTooLong()
      return live.roomToSay()
    }
  })
  return writer.result
}

function toFunctionTool ({ name, description, inputSchema }: { name: string, description: string, inputSchema: object }): LanguageModelV4FunctionTool {
  return { type: 'function', name, description, inputSchema }
}

/** The questions are on disk before anybody sees them; then the stream ends, and the run waits. */
async function ask (questions: ReadyCall[], stepFinish: RunEvent, { live: { run }, conversation }: Attempt, deps: AgentDeps) {
  const { runId, threadId, cwd, segment } = run.head
  const { approvals, ops } = deps.ledger.ask(questions.map((call) => ({ ...call, runId, threadId, cwd, segment })))
  run.head = { ...run.head, asked: approvals.map(({ approvalId }) => approvalId) }
  const requests = approvals.map(({ approvalId, toolCallId, toolName, input }): RunEvent =>
    ({ type: 'approval-request', approvalId, toolCallId, toolName, input }))
  await commit(run, deps, {
    tail: [...requests, stepFinish, { type: 'finish', finishReason: 'tool-calls', usage: run.head.usage }],
    ops: [...ops, deps.conversations.asked(conversation, runId)]
  })
}

async function finish (finishReason: FinishReason, stepFinish: RunEvent, { live: { run } }: Attempt, deps: AgentDeps) {
  const tail: RunEvent[] = [stepFinish, { type: 'finish', finishReason, usage: run.head.usage }]
  if (run.durable) await commit(run, deps, { tail })
  else tail.forEach(run.log.append)
}

/** Says in the stream why a run ended early. Nothing of it is stored: the same request may go on from the last step. */
export function endEarly ({ run }: LiveRun, error: unknown, log: AgentDeps['log']) {
  const kind = abortKind(error)
  if (kind === 'timeout') run.log.append({ type: 'error', errorText: (error as Error).message, code: 'ERR_TIMEOUT' })
  else if (kind !== undefined) run.log.append({ type: 'abort', reason: kind })
  else if (error instanceof ModelFailed || (error as { code?: string }).code?.startsWith('ERR_')) {
    run.log.append({ type: 'error', errorText: (error as Error).message, code: (error as { code: string }).code })
  } else {
    log.error({ err: error, runId: run.head.runId }, 'run failed')
    run.log.append({ type: 'error', errorText: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL' })
  }
  const finishReason = kind !== undefined && kind !== 'timeout' ? 'other' : 'error'
  run.log.append({ type: 'finish', finishReason, usage: run.head.usage })
}

const add = (a: Usage, b: Usage): Usage => ({ inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens })
