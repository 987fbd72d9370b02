import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { Aborted } from '../../lib/abort.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import { withRecentImages } from '../../models/recent-images.ts'
import { streamModel } from '../../models/stream-call.ts'
import { openCompactor } from '../../models/compaction/open-compactor.ts'
import type { Compactor } from '../../models/compaction/compactor.ts'
import { createIdSource, createStepWriter } from '../../step/step-writer.ts'
import { joinDeltas } from '../../run-log/join-deltas.ts'
import type { RunContext, RunEvent } from '../../run-log/run-events.ts'
import { answerText } from '../../run-log/fold.ts'
import { readInput } from '../../tools/read-input.ts'
import { createSessionCalls } from './session-calls.ts'
import { taskRequest } from './task-prompt.ts'
import type { RunDeps } from '../task-deps.ts'
import { BudgetMet } from '../task-errors.ts'
import { evidenceOf } from '../../judge/evidence.ts'
import { judge, refinement } from '../../judge/judge.ts'
import { learn } from './run-memory.ts'
import { existing } from '../../judge/rules/exists.ts'
import { runEvents, type TaskLogEvent } from '../run-history.ts'
import { beginNext, PHASE_TOOL } from './phases.ts'
import { deniedTool, type StoredRun, type StoredTask } from '../task-records.ts'
import { knownContext, newContext, news } from './run-context.ts'
import type { RunStart, TaskMain, Turn, Verdict } from './worker-rpc.ts'
import { nextAfter } from './worker-loop.ts'

/** Model calls a run may take; the last one is made without tools. */
const MOST_STEPS = 50
/** Minutes a run may work, unless its task says otherwise. */
const MINUTES = 30
/** A run that says more than this has run away; characters. */
const LONGEST_STEP = 4 * 1024 * 1024

export type Session = ReturnType<typeof createSession>

/**
 * The main thread's side of one attempt at a run: what its worker may ask for, and the run's record while it works.
 * Whatever it answers is on disk by then.
 */
export function createSession ({ task, run: begun, log: known, attempt, deps }: {
  task: StoredTask,
  run: StoredRun,
  log: TaskLogEvent[],
  attempt: number,
  deps: RunDeps
}) {
  const { repository, clock, registry, host, emit } = deps
  const controller = new AbortController()
  const { signal } = controller
  const stopped = Promise.withResolvers<void>()
  const log = [...known]
  let writing: Promise<unknown> = Promise.resolve()
  let ended = false
  const startedAt = clock.awake()
  const before = begun.activeMs
  let run = begun
  let room: Promise<Compactor> | undefined
  let context: RunContext | undefined
  /** What is to be said before the next step. */
  let unsaid: string[] = []
  /** The events of the step under way. */
  let stepping: RunEvent[] = []

  const activeMs = () => before + Math.round(clock.awake() - startedAt)

  /** Makes the run on disk what `changes` say, with more of its history, and tells its readers: one after the other. */
  function record (changes: Partial<StoredRun>, fresh: TaskLogEvent[] = []): Promise<void> {
    const written = writing.then(() => write(changes, fresh))
    writing = written.catch(() => {})
    return written
  }

  async function write (changes: Partial<StoredRun>, fresh: TaskLogEvent[]) {
    // Whoever ended the attempt has written, or will write, what the run is now.
    if (ended) throw signal.reason
    const phases = changes.phases ?? run.phases
    const moved = phases.filter(({ status }, at) => status !== run.phases[at]?.status)
    run = await repository.append(task.id, { ...run, ...changes, activeMs: activeMs() }, fresh)
    log.push(...fresh)
    for (const { id, description, status } of moved) {
      emit({ type: 'task:phase', taskId: task.id, runId: run.runId, phaseId: id, phase: description, status })
    }
  }

  const calls = createSessionCalls({ task, current: () => run, log, record, attempt, signal, deps })

  async function begin (): Promise<RunStart> {
    // It was there when the task was made.
    await workingFolder(task.cwd, task.cwd)
    await host.ready(signal)
    const known = knownContext(log, task, run)
    const { phases } = beginNext(run.phases)
    context = known ??
      newContext({
        task,
        run: { ...run, phases },
        last: await lastOver(),
        memory: await deps.memory(),
        tools: calls.offered(),
        servers: host.describe(),
        now: clock.now()
      })
    await record({ phases }, known === undefined ? [{ type: 'context', context }] : [])
    unsaid = known === undefined ? [] : news(log, context, task, run)
    return {
      system: context.system,
      request: taskRequest(task, run),
      events: calls.shown(runEvents(log))
    }
  }

  async function lastOver (): Promise<StoredRun | undefined> {
    for await (const [, earlier] of repository.runs(task.id, { before: run.runNumber, damaged () {} })) {
      if (earlier.completedAt !== undefined) return earlier
    }
    return undefined
  }

  async function step (prompt: Parameters<TaskMain['step']>[0]): Promise<Turn> {
    const number = run.steps + 1
    const isLast = number >= MOST_STEPS
    const { tools } = context!
    const added = unsaid.map((text): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] }))
    const events: RunEvent[] = [...unsaid.map((text): RunEvent => ({ type: 'message', text })), { type: 'step-start', step: number }]
    stepping = events
    let said = 0
    room ??= openCompactor({
      registry,
      clock,
      signal,
      load: async () => run.summaries ?? [],
      keep: (summaries) => record({ summaries }),
      onCompaction: (compaction) => {
        stepping.push({ type: 'compaction', ...compaction })
      }
    })
    const { compact } = await room
    const [system, ...messages] = withRecentImages([...prompt, ...added])
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
      onPart (part, id) {
        writer.write(part, id)
        if ('delta' in part && (said += part.delta.length) > LONGEST_STEP) {
          throw new BudgetMet('The answer grew beyond 4 million characters and was stopped.')
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
    const fresh = joinDeltas(events)
    unsaid = []
    await record({
      steps: number,
      usage: spent,
      toolCount: run.toolCount + writer.result.calls.filter(({ toolName }) => toolName !== PHASE_TOOL).length
    }, fresh)
    for (const event of fresh) {
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
    const most = task.budget?.maxTokensPerRun
    if (most !== undefined && spent.inputTokens + spent.outputTokens > most) {
      throw new BudgetMet(`The run used ${spent.inputTokens + spent.outputTokens} tokens; its budget is ${most}.`)
    }
    return { events: calls.shown(fresh), next: isLast ? 'evaluate' : nextAfter(runEvents(log)) }
  }

  async function evaluate (): Promise<Verdict> {
    const evidence = evidenceOf(task.goal, run, log, existing(task.cwd))
    const evaluation = await judge(task, evidence, deps, signal)
    const { satisfied, qualityScore, issues } = evaluation
    const isRefined = !satisfied && !run.refined && run.steps < MOST_STEPS - 1 && deniedTool(run) === undefined
    const learned = satisfied ? await learn(task.goal, evidence.answer, deps, signal) : undefined
    const message: RunEvent[] = isRefined ? [{ type: 'message', text: refinement(evaluation) }] : []
    await record(
      { evaluation, qualityScore, output: evidence.answer, refined: run.refined || isRefined, ...(learned && { learned }) },
      message
    )
    emit({ type: 'task:eval', taskId: task.id, runId: run.runId, qualityScore, satisfied, issues })
    return isRefined ? { next: 'step', events: message } : { next: 'end' }
  }

  /** Stops the run when its working time is up. */
  async function watchTime () {
    const minutes = task.budget?.maxMinutesPerRun ?? MINUTES
    await clock.timeout(Math.max(minutes * 60_000 - before, 0), AbortSignal.any([signal, over.signal]))
    controller.abort(new Aborted('timeout', `The run worked for ${minutes} minutes; that is its budget.`))
  }
  const over = new AbortController()
  watchTime().catch(() => {})

  return {
    runId: begun.runId,
    signal,
    main: { begin, step, settle: calls.settle, evaluate } satisfies TaskMain,
    /** The calls that a person must be asked about. */
    toAsk: calls.toAsk,

    abort (reason: Aborted) {
      controller.abort(reason)
    },

    /** Stops what is still running of it, waits for that, and gives the run as it then is; nothing more is written. */
    async end (): Promise<StoredRun> {
      over.abort()
      controller.abort(new Aborted('stop', 'This attempt at the run is over.'))
      await calls.quiet()
      ended = true
      await writing
      const said = run.output ?? answerText(runEvents(log)).trim()
      run = { ...run, activeMs: activeMs(), ...(said !== '' && { output: said }) }
      return run
    },

    log: log as readonly TaskLogEvent[],
    /** Resolves when nothing of it writes any more. */
    stopped: stopped.promise,
    markStopped: () => stopped.resolve(),
    get run () {
      return run
    }
  }
}
