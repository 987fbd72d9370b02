import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { withRecentImages } from '../../models/recent-images.ts'
import { streamModel } from '../../models/stream-call.ts'
import { openCompactor } from '../../models/compaction/open-compactor.ts'
import type { Compactor } from '../../models/compaction/compactor.ts'
import { createIdSource, createStepWriter } from '../../step/step-writer.ts'
import { joinDeltas } from '../../run-log/join-deltas.ts'
import type { RunContext, RunEvent } from '../../run-log/run-events.ts'
import { readInput } from '../../tools/read-input.ts'
import type { SessionCalls } from './session-calls.ts'
import type { RunDeps } from '../task-deps.ts'
import { BudgetExceeded } from '../task-errors.ts'
import { runEvents, type TaskLogEvent } from '../run-history.ts'
import { PHASE_TOOL } from './phases.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import type { StepResult, TaskMain } from './worker-rpc.ts'
import { nextAfter } from './worker-loop.ts'

/** Model calls that a run may make; the last call gets no tools. */
export const MAX_STEPS = 50
/** Characters that a model may write in one step; more is taken for a runaway answer. */
const MAX_STEP_CHARACTERS = 4 * 1024 * 1024

interface Parts {
  task: StoredTask
  current: () => StoredRun
  log: readonly TaskLogEvent[]
  record: (changes: Partial<StoredRun>, fresh?: TaskLogEvent[]) => Promise<void>
  calls: SessionCalls
  signal: AbortSignal
  deps: RunDeps
}

/** The model calls of one attempt at a run. */
export function createSessionStep ({ task, current, log, record, calls, signal, deps }: Parts) {
  const { clock, registry, emit } = deps
  let compactor: Promise<Compactor> | undefined
  /** The events of the step under way; the compactor reports into them. */
  let stepEvents: RunEvent[] = []

  /**
   * Makes one model call, stores its events and checks the token budget. `notes` are user messages that the model
   * receives before this step. Throws BudgetExceeded (409).
   */
  return async function step (
    prompt: Parameters<TaskMain['step']>[0],
    { tools }: RunContext,
    notes: readonly string[]
  ): Promise<StepResult> {
    const run = current()
    const number = run.steps + 1
    const isLast = number >= MAX_STEPS
    const noteMessages = notes.map((text): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] }))
    const events: RunEvent[] = [...notes.map((text): RunEvent => ({ type: 'message', text })), { type: 'step-start', step: number }]
    stepEvents = events
    let characters = 0
    compactor ??= openCompactor({
      registry,
      clock,
      signal,
      load: async () => current().summaries ?? [],
      keep: (summaries) => record({ summaries }),
      onCompaction: (compaction) => {
        stepEvents.push({ type: 'compaction', ...compaction })
      }
    })
    const { compact } = await compactor
    const [system, ...messages] = withRecentImages([...prompt, ...noteMessages])
    const writer = createStepWriter({
      append: (event) => {
        events.push(event)
      },
      ids: createIdSource(runEvents(log), prompt)
    })
    await streamModel({
      models: registry.candidates('capable'),
      load: registry.model,
      describe: registry.describeFailure,
      prompt: (id, tooLong) => compact(id, { system, messages, latest: 0, tools }, tooLong),
      options: { tools, toolChoice: { type: isLast ? 'none' : 'auto' } },
      signal,
      clock,
      onParts (parts, id) {
        for (const part of parts) {
          writer.write(part, id)
          if ('delta' in part) characters += part.delta.length
        }
        if (characters > MAX_STEP_CHARACTERS) {
          throw new BudgetExceeded('The model wrote more than 4 million characters in one step, so the run was stopped.')
        }
      }
    })
    const { finishReason, usage } = writer.result
    for (const { toolCallId, toolName, input: text, providerMetadata } of writer.result.calls) {
      const checked = readInput(toolName, text, calls.validate)
      const call = { toolCallId, toolName, input: checked.input, providerMetadata }
      if (isLast) events.push({ ...call, type: 'tool-input-error', errorText: 'The steps of this run are used up; no tool was called.' })
      else events.push(checked.ok ? { ...call, type: 'tool-input' } : { ...call, type: 'tool-input-error', errorText: checked.error })
    }
    events.push({
      type: 'step-finish',
      step: number,
      finishReason: isLast && writer.result.calls.length > 0 ? 'length' : finishReason,
      usage
    })
    const spent = { inputTokens: run.usage.inputTokens + usage.inputTokens, outputTokens: run.usage.outputTokens + usage.outputTokens }
    const stored = joinDeltas(events)
    await record({
      steps: number,
      usage: spent,
      toolCount: run.toolCount + writer.result.calls.filter(({ toolName }) => toolName !== PHASE_TOOL).length
    }, stored)
    for (const event of stored) {
      if (event.type === 'tool-input-error') {
        emit({
          type: 'task:tool',
          taskId: task.id,
          runId: run.runId,
          tool: event.toolName,
          input: event.input,
          output: { error: event.errorText },
          status: 'error'
        })
      }
    }
    const maxTokens = task.budget?.maxTokensPerRun
    if (maxTokens !== undefined && spent.inputTokens + spent.outputTokens > maxTokens) {
      throw new BudgetExceeded(`The run used ${spent.inputTokens + spent.outputTokens} tokens; its budget is ${maxTokens}.`)
    }
    return { events: calls.shown(stored), next: isLast ? 'evaluate' : nextAfter(runEvents(log)) }
  }
}
