import { isDeepStrictEqual } from 'node:util'
import type { Slot } from '../../../schemas/schedule.ts'
import { isOnce } from '../../calendar/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isDamage } from '../../store/index.ts'
import { isGone } from '../task-errors.ts'
import { lateness } from '../runner/task-prompt.ts'
import type { TaskRepository, Change } from '../task-repository.ts'
import type { RunDeps } from '../task-deps.ts'
import type { createRunApprovals } from '../run-approvals.ts'
import type { RunExecutor } from '../runner/executor.ts'
import { goingOn } from '../runner/outage.ts'
import type { Queue } from '../runner/queue.ts'
import { withFinalStatus, withoutTiming, type StoredTask } from '../task-records.ts'
import { newRun } from '../new-run.ts'
import { CHOICES } from '../task-choices.ts'
import { asksAt, failingText } from '../task-health.ts'
import { budgetNotification } from '../task-notifications.ts'
import type { Schedules } from './schedules.ts'

/** The longest time between two checks, in milliseconds, so that sleep, clock changes and time zone changes are noticed. */
const CHECK_MS = 10_000
/** The longest time between two checks while no task has a due time, in milliseconds. A new due time ends the wait. */
const IDLE_CHECK_MS = 3_600_000
/** The ticker counts as stalled if tasks have due times and no task was checked for this many milliseconds. */
const STALLED_MS = 60_000
/** How many tasks are checked concurrently, so that the store can write their changes together. */
const BATCH = 16
/**
 * By how many milliseconds the wall clock and the monotonic clock can differ between two checks, before the wall clock counts as changed.
 */
const DRIFT_MS = 2_000

/**
 * Creates the ticker, which watches the clock: it begins runs that are due, expires approvals without a
 * decision, and ends tasks at their end time.
 */
export function createScheduleTicker ({ deps, executor, queue, schedules, approvals }: {
  deps: RunDeps,
  executor: Pick<RunExecutor, 'conclude'>,
  queue: Queue,
  schedules: Schedules,
  approvals: ReturnType<typeof createRunApprovals>
}) {
  const { repository, ledger, clock, log, keepAwake } = deps

  /**
   * Does everything that is due for a task, in one transaction: ends the task, expires approvals, decides what becomes of planned times
   * (run, skip, miss), and asks a person about a failing task.
   */
  const check = (taskId: string) =>
    repository.change<undefined>(taskId, async (task) => {
      const expired = await approvals.expire(task)
      if (expired !== undefined) return expired
      const asked = asksAt(task) <= clock.now() ? await askWhatToDo(task) : undefined
      const current = asked?.task ?? task
      const decided = await decideSlots(current) ?? await goOn(current)
      return decided === undefined ? asked : { ...decided, choice: decided.choice ?? asked?.choice }
    })

  /** Returns the change that continues a run whose wait for its provider is over; undefined if there is no such run. */
  async function goOn (task: StoredTask): Promise<Change<undefined> | undefined> {
    const { status, liveRun, retryAt = Infinity } = task
    const run = status === 'scheduled' && retryAt <= clock.now() && liveRun ? await repository.runById(liveRun.runId) : undefined
    if (run === undefined) return undefined
    return { task: { ...task, status: 'running' }, runs: [goingOn(run)], answer: undefined, after: () => queue.push(task.id, run.runId) }
  }

  /** Ends the run that waits for its provider, because the next run of the task is due. */
  async function giveUp (task: StoredTask): Promise<Change<undefined>> {
    const run = task.liveRun && await repository.runById(task.liveRun.runId)
    if (run === undefined) return { task: { ...task, liveRun: undefined }, answer: undefined }
    const { error, failure } = run
    return executor.conclude(task, run, { status: 'failed', error, failure })
  }

  /** Decides the fate of every due slot, and creates the run if one is due; undefined if nothing changes. */
  async function decideSlots (task: StoredTask): Promise<Change<undefined> | undefined> {
    let checked = isScheduled(task) ? schedules.decideDue(task) : undefined
    if (checked === undefined) return undefined
    const over = checked.found.run === undefined || isOnce(checked.task.timing!) ? undefined : await deps.usage.tasksOverBudget()
    if (over !== undefined) checked = schedules.decideDue(task, 'budget')!
    const { found } = checked
    if (found.run !== undefined && task.retryAt !== undefined) {
      const ended = await giveUp(task)
      // The run that was queued behind the ended run is now live.
      if (ended.task.liveRun !== undefined) return ended
      const { retryAt, ...rest } = ended.task
      const { runs = [], ...decided } = await decideSlots(rest) ?? { task: rest, answer: undefined }
      return { ...decided, runs: [...ended.runs ?? [], ...runs], events: ended.events }
    }
    // Writes nothing if nothing has changed.
    if (found.run === undefined && found.slots.length === 0 && isDeepStrictEqual(checked.task, task)) return undefined
    const created = found.run &&
      await newRun(
        repository,
        checked.task,
        found.run.trigger,
        clock.now(),
        { plannedAt: found.run.at, ...found.run.trigger === 'catch_up' && { standsFor: found.run.standsFor } }
      )
    const once = isOnce(checked.task.timing!)
    const next = created?.task ?? checked.task
    // After its single time, a task is like any `one_shot`. If the time passed too long ago, the task waits for a person's answer.
    const after = !once ? next : created !== undefined ? withoutTiming(next) : { ...next, ...missed(found.slots) }
    const slots = found.slots.map((slot) =>
      created !== undefined && (slot.fate === 'run' || slot.fate === 'coalesced') ? { ...slot, runId: created.run.runId } : slot
    )
    const { ops, slotCount } = await schedules.keep(after, slots)
    const isOpen = after.liveRun !== undefined || created !== undefined || found.next !== undefined
    const isFinished = !once && after.status === 'scheduled' && !isOpen
    const counted = { ...after, slotCount }
    const change: Change<undefined> = {
      task: isFinished ? withFinalStatus(withoutTiming(counted), 'completed') : counted,
      ops: over === undefined ? ops : [...ops, ...budgetNotification(deps.notifications, over, clock.now())],
      ...once && created === undefined && slots.length > 0 && { choice: askToRun(counted, slots.at(-1)!) },
      answer: undefined
    }
    if (created === undefined) return change
    const { runId, runNumber } = created.run
    return {
      ...change,
      task: { ...change.task, status: 'running', slotRuns: after.slotRuns + 1, liveRun: { runId, runNumber } },
      runs: [created.run],
      ops: [...created.ops, ...ops],
      after: () => queue.push(task.id, runId, created.run.trigger === 'catch_up')
    }
  }

  /** Creates the question whether to run a task now whose single time passed too long ago. */
  const askToRun = ({ id, goal }: StoredTask, { at }: Slot) =>
    ledger.askChoice({ taskId: id, about: 'missed', text: missedText(goal, at, clock.now()), choices: [...CHOICES.missed] })

  /** Returns the change that asks a person, once, what to do with a failing task. */
  async function askWhatToDo (task: StoredTask): Promise<Change<undefined>> {
    const last = await repository.runNumbered(task.id, task.totalRuns)
    const choice = ledger.askChoice({ taskId: task.id, about: 'failing', text: failingText(task, last), choices: [...CHOICES.failing] })
    return { task: { ...task, health: { ...task.health!, asked: true } }, choice, answer: undefined }
  }

  /** Ids of tasks whose last check failed. */
  const failing = new Set<string>()
  let lastCheckAt = clock.awake()

  async function checkAll (taskIds: string[], signal: AbortSignal) {
    for (let at = 0; at < taskIds.length && !signal.aborted; at += BATCH) {
      await Promise.all(
        taskIds.slice(at, at + BATCH).map((taskId) =>
          check(taskId).then(() => failing.delete(taskId), (error) => {
            if (isGone(error)) return failing.delete(taskId)
            failing.add(taskId)
            // A damaged task stays damaged, so it is checked and logged only once.
            if (isDamage(error)) repository.forget(taskId)
            log.error({ err: error, taskId }, 'the check of a due task failed')
            return undefined
          })
        )
      )
      lastCheckAt = clock.awake()
      // Yields to the event loop, so that many due tasks do not delay other work.
      await new Promise(setImmediate)
    }
  }

  return {
    check,
    /** Forgets a deleted task, so that its failed check no longer counts as a problem. */
    forget: (taskId: string) => {
      failing.delete(taskId)
    },

    /** Returns a description of the problem if slots might be missed; undefined if all is well. */
    problem (): string | undefined {
      const silentMs = clock.awake() - lastCheckAt
      if (repository.due.size > 0 && silentMs > STALLED_MS) return `stalled: no task was checked for ${Math.round(silentMs / 1000)} s`
      return failing.size === 0
        ? undefined
        : `${failing.size} ${failing.size === 1 ? 'due task' : 'due tasks'} cannot be checked; see the log of the service`
    },

    /** Checks due tasks until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      const jumped = watchJumps(clock, schedules.timezone)
      let wake = new AbortController()
      repository.onDue(() => wake.abort())
      while (!signal.aborted) {
        lastCheckAt = clock.awake()
        const now = clock.now()
        // Without due tasks the time zone is not read, because its data takes time and memory to load.
        const isEarly = repository.due.size > 0 && jumped()
        const found = [...repository.due].filter(([, { at }]) => isEarly || at <= now)
        // Tasks with a single time are checked first.
        for (const first of [true, false]) {
          await checkAll(found.filter(([, { isOnce }]) => isOnce === first).map(([taskId]) => taskId), signal)
        }
        lastCheckAt = clock.awake()
        wake = new AbortController()
        keepAwake.setDue(Math.min(...awakeTimes(repository)))
        const next = Math.min(...dueTimes(repository), clock.now() + (repository.due.size === 0 ? IDLE_CHECK_MS : CHECK_MS))
        // A task whose check failed is checked again after a second.
        const wait = next <= now ? 1_000 : next - clock.now()
        if (wait > 0) await clock.sleep(wait, AbortSignal.any([signal, wake.signal])).catch(() => {})
      }
    }
  }
}

/** Returns the field of the task with the time of its last missed slot; {} without slots. */
const missed = (slots: Slot[]) => slots.length === 0 ? {} : { missedAt: slots.at(-1)!.at }

/** The most characters of the goal in the question. */
const GOAL_SHOWN = 300

const missedText = (goal: string, at: number, now: number) =>
  `This was planned for ${new Date(at).toString()} and was not done, because the service was not running. It is ${lateness(now - at)} ` +
  `late by now: ${goal.slice(0, GOAL_SHOWN)}`

/** True if the schedule of the task is active, even while a run executes. */
const isScheduled = ({ status, returnTo = 'scheduled' }: StoredTask) =>
  returnTo === 'scheduled' && (status === 'scheduled' || status === 'running' || status === 'pending_approval')

function * dueTimes ({ due }: TaskRepository) {
  for (const { at } of due.values()) yield at
}

function * awakeTimes ({ due }: TaskRepository) {
  for (const { awakeFrom } of due.values()) yield awakeFrom
}

/** Creates a function that returns true if the wall clock or the time zone was changed since its last call, and on its first call. */
function watchJumps (clock: Clock, timezone: () => string) {
  let before: { offset: number, zone: string } | undefined
  return (): boolean => {
    const last = before
    before = { offset: clock.now() - clock.monotonic(), zone: timezone() }
    return last === undefined || Math.abs(before.offset - last.offset) > DRIFT_MS || before.zone !== last.zone
  }
}
