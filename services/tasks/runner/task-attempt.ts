import type { TaskEvaluation } from '../../../schemas/evaluation.ts'
import { betterVersion, isCompleted, type JudgeDeps, type Judged, judgeRun } from '../../judge/index.ts'
import { type RunEvent, type RunContext, answerText, newestText, reviewIn } from '../../contracts/run-events.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { forModel } from '../../tools/index.ts'
import {
  describeRunTools,
  makeRunPolicy,
  type ActiveRun,
  type CallEnd,
  createRunActions,
  openAttempt,
  stoppedShort,
  type Review,
  type RunActions,
  type RunItems,
  type RunNews,
  type RunOwner,
  type TaskRun,
  withRunOptions
} from '../../runs/index.ts'
import { createPhaseTool, beginNext } from './phases.ts'
import { Aborted, abortKind, type AbortKind } from '../../lib/abort.ts'
import { workingFolder } from '../../lib/working-folder.ts'
import { questionView } from '../../approvals/index.ts'
import type { RunDeps } from '../task-deps.ts'
import { knownContext, newContext, notesOf, taskRequest } from './task-prompt.ts'
import { isTeaching, usesLearned } from '../teaching.ts'
import { findInReport } from './task-memory.ts'
import type { WorkerPool } from './workers.ts'

/** Judges a run of a task by its history; see `judgeRun`. */
async function judgeTaskRun (
  { task, run, log }: {
    task: Pick<StoredTask, 'goal' | 'plan'>,
    run: Pick<StoredRun, 'cwd' | 'phases' | 'evaluation' | 'object'>,
    log: readonly RunEvent[]
  },
  deps: JudgeDeps,
  signal: AbortSignal
): Promise<Omit<Judged, 'evaluation'> & { evaluation: TaskEvaluation }> {
  const { evaluation: { score, ...rest }, ...judged } = await judgeRun({
    request: task.goal,
    criteria: task.plan.qualityCriteria,
    plan: run.phases.map(({ description, status }) => `${description}: ${status}`),
    // Progress reports do not count as work.
    events: log.filter((event) => !('toolName' in event) || event.toolName !== PHASE_TOOL),
    cwd: run.cwd,
    expects: task.plan.expects,
    object: run.object,
    earlier: run.evaluation?.claims
  }, deps, signal)
  return { evaluation: { ...rest, qualityScore: score }, ...judged }
}

/** The event with which the history of a run ends if the second version of its report is kept. */
const SECOND: RunEvent = { type: 'revision', text: '' }

/** True if a person approves the results of the task, at least of its first runs. */
const asksForResults = ({ approval: { mode } }: Pick<StoredTask, 'approval'>): boolean => mode !== 'granted' && mode !== 'never'

export type TaskAttempt = ReturnType<typeof createTaskAttempt>

/**
 * Creates one attempt (one uninterrupted execution) at a run of a task: the actions for the worker that drives the run, and the record of
 * the run while it executes.
 */
export function createTaskAttempt ({ task, live, input, items, deps: shared }: {
  task: StoredTask,
  live: ActiveRun<TaskRun>,
  /** The data that was given to the run when it was created. */
  input: unknown,
  items: RunItems,
  deps: RunDeps
}) {
  const { run, signal } = live
  const { runId, options = task.options } = run.record
  const deps = withRunOptions(shared, options, run.log)
  const { repository, host, emit } = deps
  const attempt = openAttempt(live, deps, task.endsAt)
  const ids = { taskId: task.id, runId }
  const { interactive } = options
  const mayAsk = interactive ?? asksForResults(task)
  const isRehearsal = run.record.sheet !== undefined
  const tools = host.forRun({ ofRun: createPhaseTool(run) })
  const given = input === undefined ? undefined : JSON.stringify(input, undefined, 1)
  let context: RunContext | undefined
  let begun: Promise<void> | undefined
  /** Texts that the model receives as user messages with the next step. */
  let notes: string[] = []
  let toldPhases = run.record.phases

  function tellPhases () {
    const changed = run.record.phases.filter(({ status }, at) => status !== toldPhases[at]?.status)
    toldPhases = run.record.phases
    for (const { id, description, status } of changed) emit({ type: 'task:phase', ...ids, phaseId: id, phase: description, status })
  }

  /**
   * The first user message of the run. The notes of earlier runs are appended when the context is known, because the context stores them.
   */
  const request = taskRequest(task, run.record, given).map((text) => ({ type: 'text' as const, text }))
  const owner: RunOwner<TaskRun> = {
    kind: 'task',
    // A rehearsal keeps its own records of read and changed files.
    place: isRehearsal ? runId : task.id,
    registry: deps.registry,
    tools,
    prompt: {
      messages: [{ role: 'user', content: request }],
      placement: {},
      summaries: { load: async () => run.record.summaries ?? [], keep: (summaries) => attempt.commit({ changes: { summaries } }) },
      said: {
        isUsers: false,
        texts: [task.said ?? task.goal, options.instructions ?? '', ...task.steeringHistory.map(({ comment }) => comment)]
      },
      given
    },
    policy: makeRunPolicy({
      asks: task.approval.mode !== 'never',
      interactive,
      onlyGranted: task.approval.mode === 'granted' || isRehearsal,
      mayAsk: mayAsk && !isRehearsal
    }),
    learning: { isUsed: usesLearned(task), teaches: isTeaching(task) && !isRehearsal },
    // The newest context event counts: a provider might have refused the number of tools in the first context, which then has fewer.
    context: async () => run.log.events.findLast((event) => event.type === 'context')?.context ?? context!,
    notes: () => notes.splice(0),
    tell,
    review
  }
  const executed = createRunActions(attempt, owner, deps, { items })

  function tell (news: RunNews): void {
    switch (news.is) {
      case 'step':
        for (const event of news.events) {
          if (event.type !== 'tool-input-error') continue
          const { toolName: tool, input, errorText: error } = event
          emit({ type: 'task:tool', ...ids, tool, input, output: { error }, status: 'error' })
        }
        return
      case 'call-begun': {
        const { toolName, input } = news.call
        if (toolName !== PHASE_TOOL) emit({ type: 'task:tool-start', ...ids, toolName, input })
        return
      }
      case 'call-ended': {
        const { toolName: tool, input } = news.call
        tellPhases()
        if (tool !== PHASE_TOOL) emit({ type: 'task:tool', ...ids, tool, input, ...resultOf(news.event) })
        return
      }
      case 'question': {
        if (news.item.state !== 'pending') return
        const { createdAt, expiresAt, ...question } = questionView({ ...news.item, taskId: task.id, threadId: undefined })
        emit({ type: 'task:approval', ...ids, ...question })
      }
    }
  }

  async function begin (): Promise<void> {
    // Throws if the folder of the task no longer exists.
    await workingFolder(task.cwd, task.cwd)
    await host.ready(signal)
    const { events } = run.log
    const known = knownContext(events, task, run.record)
    const phases = beginNext(run.record.phases)
    context = known ?? await makeContext({ ...run.record, phases })
    if (context.earlier !== undefined) request.push({ type: 'text', text: context.earlier })
    await attempt.commit({ changes: { phases }, finalEvents: known === undefined ? [{ type: 'context', context }] : [] })
    tellPhases()
    notes = notesOf(events, context, task, run.record)
  }

  async function makeContext (begun: TaskRun): Promise<RunContext> {
    const skills = await deps.skills.known((await deps.skills.find(task.cwd)).skills)
    const owed = await attempt.owed()
    const described = await describeRunTools({ host: tools, registry: deps.registry, skills, missing: ['userWords'], mayAsk, owed }, signal)
    return newContext({
      ...described,
      task,
      run: begun,
      last: await previousRun(),
      machine: deps.machine,
      memory: await deps.memory(task.goal, described.isCompact),
      guide: await deps.guides.readKnown(task.cwd),
      instructions: options.instructions,
      grants: await grantsInWords(),
      now: deps.clock.now()
    })
  }

  /** Returns the grants that apply in this run, in words. */
  async function grantsInWords (): Promise<string[]> {
    const isUsed = usesLearned(task)
    return (await deps.grants.all({ taskId: task.id })).filter(({ source }) => isUsed || source !== 'approved_runs').map(({ text }) => text)
  }

  /** Returns the newest earlier run that has ended or whose result waits for approval. */
  async function previousRun (): Promise<TaskRun | undefined> {
    const before = isRehearsal ? undefined : run.record.runNumber
    for await (const earlier of repository.runs(task.id, { before, damaged () {} })) {
      if (earlier.completedAt !== undefined || earlier.runId === task.reviewRun?.runId) return earlier
    }
    return undefined
  }

  /**
   * Judges the report of the run. The run can write one more version of a report that the calls contradict or that
   * leaves something out; then the better version stands.
   */
  async function review (): Promise<Review<TaskRun>> {
    const { events } = run.log
    const { object, refined, steps, maxSteps } = run.record
    const parts = { ...deps, meter: attempt.meter }
    const judged = await judgeTaskRun({ task, run: run.record, log: events }, parts, signal)
    const report = newestText(events).trim() || (object === undefined ? '' : JSON.stringify(object))
    const first = firstVersion()
    const kept = first && betterVersion({ first, second: judged }, { events, find: host.find, cwd: run.record.cwd })
    const isFirst = first !== undefined && kept === 'first'
    const evaluation = isFirst ? first.evaluation : judged.evaluation
    const output = isFirst ? first.output : report
    const mayStand = isCompleted(evaluation)
    const refinement = refined || steps >= maxSteps || items.refused().length > 0 ? undefined : judged.refinement
    const learned = refinement === undefined && mayStand ? await findInReport(task, output, parts, signal) : undefined
    return {
      refinement,
      mayStand,
      kept,
      changes: {
        evaluation,
        verified: evaluation.verified,
        qualityScore: evaluation.qualityScore,
        output,
        otherOutput: first === undefined ? undefined : isFirst ? report : first.output,
        object: isFirst ? first.object : object,
        refined: refined || refinement !== undefined,
        stopped: refinement !== undefined ? undefined : stoppedShort(run.record, kept === 'second' ? [...events, SECOND] : events),
        ...(learned && { learned })
      },
      told: () => emit({ type: 'task:eval', ...ids, ...evaluation })
    }
  }

  /**
   * Returns the first version of the report with its evaluation. Returns undefined before the review, or if the
   * user has sent a message since the review.
   */
  function firstVersion () {
    const { evaluation, output = '', object } = run.record
    const asked = reviewIn(run.log.events)
    return asked && evaluation && { evaluation, output, object: asked.object?.object ?? object }
  }

  const actions: RunActions = {
    ...executed.actions,
    async next () {
      await (begun ??= begin())
      return executed.actions.next()
    }
  }

  return {
    live,
    signal,
    executed,
    items,

    /**
     * Lets a worker drive the run until the run has answered, waits, fails (`error`) or is stopped (`stopKind`). Then aborts
     * the calls that still run, waits for them, and resolves to the final record. After that, the attempt writes nothing.
     */
    async carryOut (workers: WorkerPool): Promise<{ run: TaskRun, stopKind?: AbortKind, error?: unknown }> {
      const result: { error?: unknown } = await workers.run(actions, signal).then(() => ({}), (error) => ({ error }))
      const stopKind = signal.aborted ? abortKind(signal.reason) : undefined
      const { stepFinish, isWaiting } = executed
      // Without its stored end, the step would get an artificial end when the run continues.
      if (isWaiting && stepFinish !== undefined && !signal.aborted) await attempt.commit({ finalEvents: [stepFinish] }).catch(() => {})
      live.abort(new Aborted('stop', 'This attempt at the run is over.'))
      await executed.quiet()
      await live.endSteering()
      await attempt.close()
      const output = run.record.output ?? answerText(run.log.events).trim()
      run.record = { ...run.record, ...(output !== '' && { output }) }
      return { run: run.record, stopKind, ...result }
    }
  }
}

/** Returns the fields of a task event that describe the result of a call. */
function resultOf (event: CallEnd['event']) {
  switch (event.type) {
    case 'tool-output':
      return { output: forModel(event.output), status: 'complete' as const }
    case 'tool-error':
      return { output: { error: event.errorText }, status: 'error' as const }
    case 'tool-denied':
      return { output: { error: event.reason }, status: 'denied' as const }
  }
}
