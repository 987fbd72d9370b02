import type { TaskItem } from '../../contracts/approval-record.ts'
import { Aborted } from '../../lib/abort.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import type { Op } from '../../store/store-types.ts'
import { type RunContext, type RunEvent, answerText } from '../../contracts/run-events.ts'
import { wholeUsage } from '../../usage/usage-sums.ts'
import { createSessionCalls, usesLearned } from './session-calls.ts'
import { createAttemptApprovals } from './attempt-approvals.ts'
import { mostSteps } from './run-steps.ts'
import { createSessionStep } from './session-step.ts'
import { taskRequest } from './task-prompt.ts'
import type { RunDeps } from '../task-deps.ts'
import { openObjectAnswer, type ObjectAnswer } from '../../objects/object-answer.ts'
import { withRunOptions } from '../../run-options/with-run-options.ts'
import { LONGEST_RUN } from '../../../schemas/run-options.ts'
import { judgeTaskRun } from './judge-task-run.ts'
import { findInReport } from './run-memory.ts'
import { runEvents, type TaskLogEvent } from '../../run-log/run-history.ts'
import { beginNext } from './phases.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { answerOfStep } from './owed-answer.ts'
import { knownContext, newContext, notesOf } from './run-context.ts'
import type { RunStart, TaskMain, Verdict } from './worker-rpc.ts'

export type Session = ReturnType<typeof createSession>

/**
 * The main thread's side of one attempt at a run: the methods that the worker may call, and the record of the run
 * while it executes. Every answer to the worker is durable before it is sent.
 */
export function createSession ({ task, run: initialRun, approvals, log: storedLog, attempt, deps: shared }: {
  task: StoredTask,
  run: StoredRun,
  approvals: TaskItem[],
  log: TaskLogEvent[],
  attempt: number,
  deps: RunDeps
}) {
  // A run that began before tasks had options has none of its own.
  const { options = task.options } = initialRun
  const deps = withRunOptions(shared, options)
  const { repository, clock, host, emit } = deps
  const controller = new AbortController()
  const { signal } = controller
  const stopped = Promise.withResolvers<void>()
  const log = [...storedLog]
  const items = createAttemptApprovals(approvals)
  let writing: Promise<unknown> = Promise.resolve()
  let ended = false
  const startedAt = clock.awake()
  const activeMsBefore = initialRun.activeMs
  // The meter adds to this very object, which all copies of the run share.
  const usage = wholeUsage(initialRun.usage)
  let run: StoredRun = { ...initialRun, usage }
  const meter = deps.usage.open(run.runId, { owner: { kind: 'task', id: task.id }, budget: options.budget, total: usage })
  let context: RunContext | undefined
  let owed: ObjectAnswer | undefined
  /** Texts that the model receives as user messages before the next step. */
  let pendingNotes: string[] = []

  const activeMs = () => activeMsBefore + Math.round(clock.awake() - startedAt - deadline.paused())

  /** Applies `changes` to the stored run, appends `fresh` to its history and emits phase events. Writes happen in order. */
  function record (changes: Partial<StoredRun>, fresh: TaskLogEvent[] = [], approvals: TaskItem[] = [], ops: Op[] = []): Promise<void> {
    const written = writing.then(() => write(changes, fresh, approvals, ops))
    writing = written.catch(() => {})
    return written
  }

  async function write (changes: Partial<StoredRun>, fresh: TaskLogEvent[], approvals: TaskItem[], ops: Op[]) {
    // The code that ended the attempt writes the final state of the run; a write from here would overwrite it.
    if (ended) throw signal.reason
    const phases = changes.phases ?? run.phases
    const changedPhases = phases.filter(({ status }, at) => status !== run.phases[at]?.status)
    run = await repository.append(task.id, { ...run, ...changes, activeMs: activeMs() }, fresh, approvals, ops)
    items.keep(approvals)
    log.push(...fresh)
    for (const { id, description, status } of changedPhases) {
      emit({ type: 'task:phase', taskId: task.id, runId: run.runId, phaseId: id, phase: description, status })
    }
  }

  const { minutes = LONGEST_RUN } = options.budget ?? {}
  const deadline = startDeadline({
    clock,
    ms: Math.max(minutes * 60_000 - activeMsBefore, 0),
    message: `The run worked for ${minutes} minutes; that is its budget.`
  }, (reason) => controller.abort(reason))

  const parts = { task, items, current: () => run, owed: () => owed, log, record, attempt, signal, meter, pause: deadline.pause, deps }
  const calls = createSessionCalls(parts)
  const runStep = createSessionStep({ ...parts, calls })

  async function begin (): Promise<RunStart> {
    // The folder existed when the task was created; it may be gone now.
    await workingFolder(task.cwd, task.cwd)
    await host.ready(signal)
    owed = options.object && await openObjectAnswer(options.object)
    const known = knownContext(log, task, run)
    const phases = beginNext(run.phases)
    context = known ??
      newContext({
        task,
        run: { ...run, phases },
        last: await previousRun(),
        machine: deps.machine,
        memory: await deps.memory(),
        guide: await deps.guides.readKnown(task.cwd),
        instructions: options.instructions,
        owed,
        tools: calls.tools.offered(),
        grants: await grantsInWords(),
        servers: host.describe(),
        now: clock.now()
      })
    await record({ phases }, known === undefined ? [{ type: 'context', context }] : [])
    pendingNotes = notesOf(log, context, task, run)
    return { request: taskRequest(task, run), events: calls.shown(runEvents(log)) }
  }

  /** The calls that need no approval in this run, in words. */
  async function grantsInWords (): Promise<string[]> {
    const isUsed = usesLearned(task)
    return (await deps.grants.all({ taskId: task.id })).filter(({ source }) => isUsed || source !== 'approved_runs').map(({ text }) => text)
  }

  /** The newest earlier run that has ended. */
  async function previousRun (): Promise<StoredRun | undefined> {
    for await (const [, earlier] of repository.runs(task.id, { before: run.runNumber, damaged () {} })) {
      if (earlier.completedAt !== undefined) return earlier
    }
    return undefined
  }

  async function evaluate (): Promise<Verdict> {
    // The service may have ended between an answer without its object and the message that asks for it.
    if (owed !== undefined && run.object === undefined) {
      const { changes, events } = answerOfStep(runEvents(log), owed, true)
      await record(changes, events)
      if (run.object === undefined) return { next: 'step', events }
    }
    const judged = await judgeTaskRun({ task, run, log }, { ...deps, meter }, signal)
    const { evaluation, refinement } = judged
    const report = judged.report === '' && run.object !== undefined ? JSON.stringify(run.object) : judged.report
    const { satisfied, qualityScore } = evaluation
    const isRefined = !satisfied && !run.refined && run.steps < mostSteps(options) - 1 && items.denied() === undefined
    const learned = satisfied ? await findInReport(task.goal, report, { ...deps, meter }, signal) : undefined
    const message: RunEvent[] = isRefined ? [{ type: 'message', text: refinement }] : []
    await record(
      { evaluation, qualityScore, output: report, refined: run.refined || isRefined, ...(learned && { learned }) },
      message
    )
    emit({ type: 'task:eval', taskId: task.id, runId: run.runId, ...evaluation })
    return isRefined ? { next: 'step', events: message } : { next: 'end' }
  }

  return {
    runId: initialRun.runId,
    signal,
    main: { begin, step: (prompt) => runStep(prompt, context!, pendingNotes.splice(0)), settle: calls.settle, evaluate } satisfies TaskMain,
    items,
    /** The calls that wait: for an approval, for the user's answer, or for the application. */
    callsToAsk: calls.callsToAsk,

    abort (reason: Aborted) {
      controller.abort(reason)
    },

    /** Aborts the calls that still run, waits for them, and resolves to the final run. The session writes nothing after that. */
    async end (): Promise<StoredRun> {
      deadline.stop()
      controller.abort(new Aborted('stop', 'This attempt at the run is over.'))
      await calls.quiet()
      ended = true
      await writing
      deps.usage.close(run.runId)
      const output = run.output ?? answerText(runEvents(log)).trim()
      run = { ...run, activeMs: activeMs(), ...(output !== '' && { output }) }
      return run
    },

    log: log as readonly TaskLogEvent[],
    /** Resolves when the session and its executor have finished with the run record of this attempt. */
    stopped: stopped.promise,
    markStopped: () => stopped.resolve(),
    get run () {
      return run
    }
  }
}
