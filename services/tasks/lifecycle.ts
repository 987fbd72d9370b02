import { Aborted } from '../lib/abort.ts'
import type { DecidedApproval } from '../../schemas/approvals.ts'
import type { SteerBody, SteeredRun } from '../../schemas/agent.ts'
import type { RunQueued, TaskRunBody, TaskSteered, TaskSteerBody } from '../../schemas/task-runs.ts'
import type { RunTrigger, TaskStatus } from '../../schemas/tasks.ts'
import { newId } from '../lib/ids.ts'
import { decideChoice } from '../approvals/index.ts'
import { jsonBytes } from '../lib/json.ts'
import { type Op, taskInputKey } from '../store/index.ts'
import type { Change } from './task-repository.ts'
import type { RunExecutor } from './runner/executor.ts'
import type { RunDeps } from './task-deps.ts'
import { closeRun, type RunEnding } from './runner/run-ending.ts'
import { assertBeforeEnd, endInTime } from './end-time.ts'
import { QuestionNotFound, RunNotFound, WrongState, assertState } from './task-errors.ts'
import type { Queue } from './runner/queue.ts'
import { isOver, NoActiveRun, steerRun, steerWaitingRun, type TaskRun } from '../runs/index.ts'
import {
  hasUsedAllRuns,
  isOutdated,
  MAX_COMMENTS,
  restingStatus,
  withFinalStatus,
  withoutTiming,
  withTimingOf,
  type StoredRun,
  type StoredTask
} from './task-records.ts'
import { newRun } from './new-run.ts'
import type { ChoiceValue } from './task-choices.ts'
import { goingOn, isRestartable, isWaitingForProvider } from './runner/outage.ts'
import { outcomeOfRun } from './schedule/outcomes.ts'
import { tryNext } from './task-health.ts'
import type { Schedules } from './schedule/schedules.ts'

/** How runs end that are stopped together: one ending for all, or a function that returns the ending of each run. */
type Ending = RunEnding | ((run: StoredRun) => RunEnding)

type StopChange = Pick<Required<Change<void>>, 'task' | 'runs' | 'events'>

const unchanged = (task: StoredTask): StopChange => ({ task, runs: [], events: [] })
/** Combines two changes into one. `second` was computed from the task that `first` returned. */
const both = (first: StopChange, second: StopChange): StopChange =>
  ({ task: second.task, runs: [...first.runs, ...second.runs], events: [...first.events, ...second.events] })

export type Lifecycle = ReturnType<typeof createLifecycle>

/**
 * Creates the operations on an existing task: start, pause, resume, cancel, run, steer (comment on how to go on). Each throws WrongState
 * (409) if the state of the task does not allow it.
 */
export function createLifecycle (
  { deps, executor, queue, schedules }: { deps: RunDeps, executor: RunExecutor, queue: Queue, schedules: Schedules }
) {
  const { repository, ledger, clock } = deps

  /**
   * Starts a new run and ends any live or queued run, such as one that a pause left open. A task that is not a
   * `one_shot` returns to its present status when the new run ends. `input` is the data for the run.
   */
  async function beginRun (started: StoredTask, trigger: RunTrigger, input?: unknown) {
    // A `one_shot` runs once, so a run before its planned time replaces that time.
    const { task, ops } = started.taskType === 'one_shot' ? await schedules.end(started, 'manual') : { task: started, ops: [] }
    const replaced = await stopRuns(task, new Aborted('cancel'), { status: 'cancelled', error: 'Another run was started in its place.' })
    const created = await newRun(repository, replaced.task, trigger, clock.now())
    const { runId, runNumber } = created.run
    const given: Op[] = input === undefined ? [] : [{ type: 'put', key: taskInputKey(runId), value: input }]
    const running: StoredTask = {
      ...created.task,
      status: 'running',
      liveRun: { runId, runNumber },
      ...(task.taskType !== 'one_shot' && { returnTo: started.returnTo ?? started.status })
    }
    return {
      task: running,
      runs: [...replaced.runs, input === undefined ? created.run : { ...created.run, inputBytes: jsonBytes(input) }],
      ops: [...ops, ...created.ops, ...given],
      events: replaced.events,
      queued: { ok: true as const, taskId: task.id, runId, runNumber },
      after: () => queue.push(task.id, runId)
    }
  }

  /** Ends the live run and the run that is queued behind the live run. */
  async function stopRuns (task: StoredTask, reason: Aborted, ending: Ending): Promise<StopChange> {
    const dropped = await dropNext(task, 'The task was stopped before this run began.')
    return both(dropped, await stopLive(dropped.task, reason, ending))
  }

  /** Ends the run that is queued behind the live one. */
  async function dropNext ({ nextRun, ...task }: StoredTask, error: string): Promise<StopChange> {
    if (nextRun === undefined) return unchanged(task)
    queue.drop(nextRun.runId)
    const run = await repository.runById(nextRun.runId)
    const closed = run && closeRun(run, [], { status: 'cancelled', error }, deps)
    return { task, runs: closed ? [closed.run] : [], events: closed?.events ?? [] }
  }

  /** Ends the live run. A run that is queued behind the ended run becomes the live run. */
  async function stopLive (task: StoredTask, reason: Aborted, ending: Ending): Promise<StopChange> {
    const run = await halt(task, reason)
    // A paused run of a one_shot is stored as interrupted but can still continue, so it has to be ended.
    return run === undefined || (isOver(run) && run.status !== 'interrupted') ? unchanged(task) : endRun(task, run, ending)
  }

  /** Stops the live run, whether the run is queued or executing, and returns its record; undefined if there is none. */
  async function halt ({ liveRun }: StoredTask, reason: Aborted): Promise<StoredRun | undefined> {
    if (liveRun === undefined) return undefined
    queue.drop(liveRun.runId)
    return await executor.stop(liveRun.runId, reason) ?? repository.runById(liveRun.runId)
  }

  /** Ends the run whose result waits for approval while the task continues. */
  async function dropResult (task: StoredTask, ending: Ending): Promise<StopChange> {
    const run = task.reviewRun && await repository.runById(task.reviewRun.runId)
    return run === undefined || isOver(run) ? unchanged(task) : endRun(task, run, ending)
  }

  async function endRun (before: StoredTask, run: StoredRun, ending: Ending): Promise<StopChange> {
    const { task, runs, events } = await executor.conclude(before, run, typeof ending === 'function' ? ending(run) : ending)
    return { task, runs, events }
  }

  /** Ends all runs of the task. */
  async function stopAll (task: StoredTask, reason: Aborted, ending: Ending): Promise<StopChange> {
    const dropped = await dropResult(task, ending)
    return both(dropped, await stopRuns(dropped.task, reason, ending))
  }

  /** Stops the live run of a `one_shot` so that the run can continue when the task is resumed. */
  async function pauseOneShot (task: StoredTask): Promise<StopChange> {
    const run = await halt(task, new Aborted('pause', 'The task was paused.'))
    if (run === undefined || (run.status === 'queued' && !isWaitingForProvider(run))) return unchanged(task)
    const { retryAt, ...paused } = run
    return { task: { ...task, retryAt: undefined }, runs: [{ ...paused, status: 'interrupted' }], events: [] }
  }

  async function pause (task: StoredTask): Promise<Change<StoredTask>> {
    assertState(task, 'pause')
    const paused = (stopped: { task: StoredTask, runs?: StoredRun[], events?: Change<void>['events'] }): Change<StoredTask> => {
      // Keeps the schedule, even if the interrupted run was its last run.
      const { nextRunAt, ...rest } = withTimingOf(stopped.task, task)
      const after: StoredTask = { ...rest, status: 'paused', pausedReason: 'user', returnTo: restingStatus(task) }
      return { ...stopped, task: after, answer: after }
    }
    if (task.status === 'scheduled' && task.liveRun === undefined) return paused({ task })
    const dropped = await dropNext(task, 'The task was paused before this run began.')
    const { task: alone } = dropped
    const stopped = task.status === 'pending_approval'
      ? unchanged(alone)
      : task.taskType === 'one_shot'
        ? await pauseOneShot(alone)
        : await stopRuns(alone, new Aborted('pause', 'The task was paused.'), { status: 'interrupted', error: 'The task was paused.' })
    return paused(both(dropped, stopped))
  }

  /** Throws WrongState (409) if the state or the end time of the task forbids a run. */
  function assertMayRun (task: StoredTask, operation: 'start' | 'resume' | 'run' | 'steer'): void {
    assertState(task, operation)
    assertBeforeEnd(task, clock.now())
  }

  async function resume (task: StoredTask): Promise<Change<StoredTask>> {
    assertMayRun(task, 'resume')
    const { pausedReason, returnTo, ...rest } = task
    // The single time of a task is over when its run begins.
    const isTimeOver = returnTo !== undefined || (task.taskType === 'one_shot' && task.liveRun !== undefined && task.timing === undefined)
    const { task: going, ops } = isTimeOver ? { task: tryNext(rest), ops: [] } : await schedules.resume(tryNext(rest))
    const resumed: StoredTask = going.triggers === undefined
      ? going
      : { ...going, firing: { ...going.firing, since: clock.now(), rested: true } }
    const live = task.liveRun && await repository.runById(task.liveRun.runId)
    const to = (status: TaskStatus, more: Partial<Change<StoredTask>> = {}): Change<StoredTask> => ({
      task: { ...resumed, status, ...live?.status === 'pending_approval' && { returnTo } },
      ops,
      answer: { ...resumed, status },
      ...more
    })
    if (live?.status === 'pending_approval') {
      if ((await repository.open(live)).length > 0) return to('pending_approval')
      // The application answered while the task was paused.
      const { runId } = live
      return to('running', { runs: [{ ...live, status: 'running', suspended: true }], after: () => queue.push(task.id, runId) })
    }
    if (hasUsedAllRuns(resumed)) {
      const ended = withFinalStatus(withoutTiming(resumed), 'completed')
      return { task: ended, ops, answer: ended }
    }
    if (task.taskType !== 'one_shot' || resumed.timing !== undefined) return to(returnTo ?? 'scheduled')
    const enqueue = () => queue.push(task.id, live!.runId)
    if (live?.status === 'queued') return to('running', { after: enqueue })
    // The interrupted run continues from its last step.
    if (live?.status === 'interrupted') return to('running', { runs: [goingOn(live)], after: enqueue })
    const { queued, ...begun } = await beginRun(resumed, 'start')
    return { ...begun, answer: begun.task }
  }

  async function start (task: StoredTask): Promise<Change<StoredTask>> {
    assertMayRun(task, 'start')
    const { returnTo, pausedReason, health, ...rest } = task
    const fresh = await schedules.begin(rest)
    if (task.taskType !== 'one_shot' || fresh.timing !== undefined) {
      const firing = fresh.triggers && { since: clock.now() }
      const scheduled: StoredTask = { ...fresh, status: 'scheduled', ...firing && { firing: { ...fresh.firing, ...firing } } }
      return { task: scheduled, answer: scheduled }
    }
    const { queued, ...begun } = await beginRun(fresh, 'start')
    return { ...begun, answer: begun.task }
  }

  async function cancel (task: StoredTask): Promise<Change<StoredTask>> {
    assertState(task, 'cancel')
    const stopped = await stopAll(task, new Aborted('cancel', 'The task was cancelled.'), {
      status: 'cancelled',
      error: 'The task was cancelled.'
    })
    const { task: ended, ops } = await schedules.end(stopped.task, 'cancelled')
    const { returnTo, pausedReason, liveRun, reviewRun, ...rest } = ended
    const cancelled: StoredTask = { ...rest, status: 'cancelled' }
    return { ...stopped, task: cancelled, ops, answer: cancelled }
  }

  /** Queues a new run behind the live one. */
  async function queueBehind (task: StoredTask): Promise<{ task: StoredTask, runs: StoredRun[], ops: Op[] }> {
    const { task: numbered, run, ops } = await newRun(repository, task, 'steer', clock.now())
    return { task: { ...numbered, nextRun: { runId: run.runId, runNumber: run.runNumber } }, runs: [run], ops }
  }

  /** Returns the change that continues a run which waits for its provider, or which failed because of its provider. */
  function goOn (task: StoredTask, run: StoredRun): Change<RunQueued> & { ops: Op[] } {
    const { runId, runNumber } = run
    return {
      task: { ...task, status: 'running', liveRun: { runId, runNumber } },
      runs: [goingOn(run)],
      ops: outcomeOfRun('del', run),
      answer: { ok: true, taskId: task.id, runId, runNumber },
      after: () => queue.push(task.id, runId)
    }
  }

  /** Returns the newest run of the task if the run failed because of its provider and can continue from its last step. */
  async function endedByProvider (task: StoredTask): Promise<StoredRun | undefined> {
    const last = task.liveRun === undefined ? await repository.runNumbered(task.id, task.totalRuns) : undefined
    return last !== undefined && isRestartable(last) && !isOutdated(task, last) ? last : undefined
  }

  /** Returns the run that waits for its provider. */
  const waitingRun = async ({ retryAt, liveRun }: StoredTask): Promise<StoredRun | undefined> =>
    retryAt === undefined || liveRun === undefined ? undefined : repository.runById(liveRun.runId)

  /** Starts a new run; but without `input`, continues a run that waits for its provider, or that failed because of its provider. */
  async function run (task: StoredTask, input?: unknown): Promise<Change<RunQueued> & { ops: Op[] }> {
    assertMayRun(task, 'run')
    const waiting = input === undefined ? await waitingRun(task) : undefined
    if (waiting !== undefined) return goOn(task, waiting)
    const ended = input === undefined ? await endedByProvider(task) : undefined
    if (ended !== undefined) return goOn(task.taskType === 'one_shot' ? task : { ...task, returnTo: task.returnTo ?? task.status }, ended)
    const { queued, ...begun } = await beginRun(task, 'manual', input)
    return { ...begun, answer: queued }
  }

  /** Carries out a person's choice about the task. `runId` in the result is the run that the choice began, if any. */
  async function effectOf (task: StoredTask, choice: ChoiceValue): Promise<Omit<Change<unknown>, 'answer'> & { runId?: string }> {
    switch (choice) {
      case 'keep':
        return { task }
      case 'pause':
        return pause(task)
      case 'cancel':
        return cancel(task)
      case 'run': {
        const begun = await run(task)
        return { ...begun, runId: begun.answer.runId }
      }
    }
  }

  return {
    /** Starts a task: activates its schedule, or begins the run of a `one_shot` without a planned time. */
    start: (taskId: string): Promise<StoredTask> => repository.change(taskId, start),
    /** Stores a new task and starts it. `opsOf` returns further operations for the same transaction. */
    async launch (task: StoredTask, opsOf: (started: StoredTask) => Op[]): Promise<StoredTask> {
      const started = await start(task)
      return repository.add({ ...started, ops: [...started.ops ?? [], ...opsOf(started.answer)] })
    },

    pause: (taskId: string): Promise<StoredTask> => repository.change(taskId, pause),
    resume: (taskId: string): Promise<StoredTask> => repository.change(taskId, resume),

    cancel: (taskId: string): Promise<StoredTask> => repository.change(taskId, cancel),

    /** Returns the change that ends the task at its end time. */
    endInTime: (task: StoredTask): Promise<Change<undefined>> =>
      endInTime(task, { repository, schedules, stopAll, say: deps.host.say }),

    /** Runs the task now, independent of its schedule. `input` is data for this run. */
    run: (taskId: string, { input }: TaskRunBody, remember: (answer: RunQueued) => Op[]): Promise<RunQueued> =>
      repository.change(taskId, async (task) => {
        const begun = await run(task, input)
        return { ...begun, ops: [...begun.ops, ...remember(begun.answer)] }
      }),

    /**
     * Records a person's answer to the question of the task and carries out the chosen operation, in one
     * transaction. Throws ApprovalNotFound (404), and as `decideChoice` and the chosen operation do.
     */
    choose: (taskId: string, approvalId: string, choice: string | undefined): Promise<DecidedApproval> =>
      repository.change(taskId, async (task): Promise<Change<DecidedApproval>> => {
        const item = await ledger.require(approvalId)
        if (item.kind !== 'task' || item.taskId !== taskId) throw new QuestionNotFound(approvalId)
        const decided = decideChoice(item, choice, clock.now())
        const answer = { approvalId, taskId, state: 'answered' as const }
        if (decided === undefined) return { task, answer: { ...answer, continued: false } }
        const { runId, ...change } = await effectOf(task, decided.choice as ChoiceValue)
        return { ...change, choice: decided, answer: { ...answer, ...(runId !== undefined && { runId }), continued: runId !== undefined } }
      }),

    /** Adds a steering comment. With `runNow`, a run starts now, or directly after the active run. */
    steer: (taskId: string, { comment, runNow = false }: TaskSteerBody, remember: (answer: TaskSteered) => Op[]): Promise<TaskSteered> =>
      repository.change(taskId, async (task) => {
        if (runNow) assertMayRun(task, 'steer')
        const now = clock.now()
        const steered: StoredTask = {
          ...task,
          steeringHistory: [...task.steeringHistory, { id: newId(), comment, createdAt: now }].slice(-MAX_COMMENTS)
        }
        const answer: TaskSteered = { ok: true, taskId, comment, runTriggered: runNow }
        const change: Change<TaskSteered> = {
          task: steered,
          events: [{ type: 'task:steer', taskId, comment }],
          ops: remember(answer),
          answer
        }
        if (!runNow) return change
        const waiting = await waitingRun(task)
        if (task.status !== 'running' && task.status !== 'pending_approval' && waiting === undefined) {
          const { queued, ...begun } = await beginRun(steered, 'steer')
          return { ...change, ...begun, ops: [...begun.ops, ...change.ops!], events: [...begun.events, ...change.events!] }
        }
        const behind = task.nextRun === undefined ? await queueBehind(steered) : { task: steered, runs: [], ops: [] }
        // A run that waits for its provider continues now; the new run is queued behind it.
        const on = waiting && goOn(behind.task, waiting)
        return {
          ...change,
          task: on?.task ?? behind.task,
          runs: [...on?.runs ?? [], ...behind.runs],
          ops: [...behind.ops, ...change.ops!],
          after: on?.after
        }
      }),

    /**
     * Sends a message to a run; see TaskCreation. Throws NoActiveRun for a run that takes no further step, such as
     * one whose result waits for approval.
     */
    async steerRun (taskId: string, runId: string, body: SteerBody): Promise<SteeredRun> {
      const live = deps.activeRuns.ofTaskRun(runId)
      const { id, state } = (live && await steerRun(live, body, deps)) ?? await repository.locked(taskId, async () => {
        const { liveRun } = await repository.get(taskId)
        const run = liveRun?.runId === runId ? await deps.runs.load<TaskRun>(runId) : undefined
        if (run === undefined || !(run.record.status === 'pending_approval' || isWaitingForProvider(run.record))) throw new NoActiveRun()
        if ((await repository.open(run.record)).some(({ kind }) => kind === 'result')) throw new NoActiveRun()
        return steerWaitingRun(run, body, deps)
      })
      return { ok: true, runId, taskId, id, state }
    },

    /** Cancels one run; the task continues as after any run. Throws RunNotFound (404), or WrongState (409) if the run has ended. */
    cancelRun: (taskId: string, runId: string): Promise<StoredRun> =>
      repository.change(taskId, async (task) => {
        const run = await repository.run(taskId, runId)
        const isLive = task.liveRun?.runId === runId
        if (isOver(run) && !(isLive && run.status === 'interrupted')) {
          throw new WrongState(`The run is ${run.status}; it can be cancelled while it is queued, running or pending_approval.`)
        }
        if (task.nextRun?.runId === runId) {
          const dropped = await dropNext(task, 'The run was cancelled.')
          return { ...dropped, answer: dropped.runs[0] }
        }
        const ending = { status: 'cancelled' as const, error: 'The run was cancelled.' }
        if (task.reviewRun?.runId === runId) {
          const dropped = await dropResult(task, ending)
          return { ...dropped, answer: dropped.runs[0] }
        }
        if (!isLive) throw new RunNotFound(runId)
        const stopped = await stopLive(task, new Aborted('cancel', 'The run was cancelled.'), ending)
        return {
          ...stopped,
          answer: stopped.runs[0],
          after: () => {
            if (stopped.task.status === 'running') queue.push(taskId, stopped.task.liveRun!.runId)
          }
        }
      }),

    /** Stops the runs of a task that is being deleted. Resolves to the events to emit once the task is deleted. */
    halt: async (task: StoredTask) =>
      (await stopAll(task, new Aborted('delete', 'The task was deleted.'), { status: 'cancelled', error: 'The task was deleted.' })).events
  }
}
