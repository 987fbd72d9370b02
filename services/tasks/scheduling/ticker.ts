import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../lib/clock.ts'
import { isDamage } from '../../store/store-errors.ts'
import type { TaskRepository, Change } from '../task-repository.ts'
import type { RunDeps } from '../task-deps.ts'
import type { createRunApprovals } from '../run-approvals.ts'
import type { Queue } from '../runner/queue.ts'
import { withoutTiming, type StoredTask } from '../task-records.ts'
import { newRun } from '../new-run.ts'
import type { Schedules } from './schedules.ts'

/** Looked at the clock at least so often: sleep, a clock that was set and a machine that moved are noticed. Milliseconds. */
const LOOK_MS = 10_000
/** No look for so long, and time is not kept. Milliseconds. */
const STALLED_MS = 60_000
/** Tasks looked at side by side: what becomes of them goes to the disk together. */
const AT_ONCE = 16
/** Wall clock and monotonic clock may drift apart by so much between two looks. */
const DRIFT_MS = 2_000

/** Lets come to pass what is due: planned times of schedules, and questions that nobody answered. */
export function createScheduleTicker ({ deps, queue, schedules, questions }: {
  deps: RunDeps,
  queue: Queue,
  schedules: Schedules,
  questions: ReturnType<typeof createRunApprovals>
}) {
  const { repository, clock, log } = deps

  /** Gives every planned time that has passed its fate, in the batch of the run it began. */
  const look = (taskId: string) =>
    repository.change<undefined>(taskId, async (task) => {
      const expired = await questions.expire(task)
      if (expired !== undefined) return expired
      const looked = isScheduled(task) ? schedules.look(task) : undefined
      if (looked === undefined) return undefined
      const { found } = looked
      // Nothing is written when there is no news.
      if (found.run === undefined && found.slots.length === 0 && isDeepStrictEqual(looked.task, task)) return undefined
      const made = found.run &&
        await newRun(
          repository,
          looked.task,
          found.run.trigger,
          clock.now(),
          found.run.trigger === 'catch_up' ? found.run.standsFor : undefined
        )
      const after = made?.task ?? looked.task
      const slots = found.slots.map((slot) =>
        made !== undefined && (slot.fate === 'run' || slot.fate === 'coalesced') ? { ...slot, runId: made.run.runId } : slot
      )
      const { ops, slotCount } = await schedules.keep(after, slots)
      const isOver = after.status === 'scheduled' && made === undefined && found.next === undefined
      const counted = { ...after, slotCount }
      const change: Change<undefined> = {
        task: isOver ? { ...withoutTiming(counted), status: 'completed' } : counted,
        ops,
        answer: undefined
      }
      if (made === undefined) return change
      const { runId, runNumber } = made.run
      return {
        ...change,
        task: { ...change.task, status: 'running', slotRuns: after.slotRuns + 1, liveRun: { runId, runNumber } },
        runs: [made.run],
        ops: [...made.ops, ...ops],
        after: () => queue.push(taskId, runId, made.run.trigger === 'catch_up')
      }
    })

  /** Tasks that could not be looked at the last time. */
  const failing = new Set<string>()
  let lookedAt = clock.awake()

  async function lookAt (taskIds: string[], signal: AbortSignal) {
    for (let at = 0; at < taskIds.length && !signal.aborted; at += AT_ONCE) {
      await Promise.all(
        taskIds.slice(at, at + AT_ONCE).map((taskId) =>
          look(taskId).then(() => failing.delete(taskId), (error) => {
            if (error.statusCode === 404) return failing.delete(taskId)
            failing.add(taskId)
            // It stays so, and is said once.
            if (isDamage(error)) repository.forget(taskId)
            log.error({ err: error, taskId }, 'a task that is due could not be looked at')
            return undefined
          })
        )
      )
      lookedAt = clock.awake()
      // However many are due at once, others have their turn.
      await new Promise(setImmediate)
    }
  }

  return {
    look,
    /** A task that is gone is no trouble any more. */
    forget: (taskId: string) => {
      failing.delete(taskId)
    },

    /** Why times may be missed; undefined while they are kept. */
    problem (): string | undefined {
      const silentMs = clock.awake() - lookedAt
      if (silentMs > STALLED_MS) return `stalled: nothing was looked at for ${Math.round(silentMs / 1000)} s`
      return failing.size === 0
        ? undefined
        : `${failing.size} ${failing.size === 1 ? 'task that is due cannot' : 'tasks that are due cannot'} be looked at; the log says why`
    },

    /** Keeps time until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      const jumped = watchJumps(clock, schedules.timezone)
      let wake = new AbortController()
      repository.onDue(() => wake.abort())
      while (!signal.aborted) {
        const now = clock.now()
        await lookAt(
          jumped() ? [...repository.due.keys()] : [...repository.due].filter(([, at]) => at <= now).map(([taskId]) => taskId),
          signal
        )
        lookedAt = clock.awake()
        wake = new AbortController()
        const next = Math.min(...nearest(repository), clock.now() + LOOK_MS)
        // One that could not be looked at is looked at again, but not at once.
        const wait = next <= now ? 1_000 : next - clock.now()
        if (wait > 0) await clock.sleep(wait, AbortSignal.any([signal, wake.signal])).catch(() => {})
      }
    }
  }
}

/** Whether its schedule is under way, also behind a run. */
const isScheduled = ({ status, returnTo }: StoredTask) =>
  status === 'scheduled' || ((status === 'running' || status === 'pending_approval') && (returnTo ?? 'scheduled') === 'scheduled')

function * nearest ({ due }: TaskRepository) {
  for (const at of due.values()) yield at
}

/** Tells whether the clock was set or the machine moved since it was last asked; at first it may be so, too. */
function watchJumps (clock: Clock, timezone: () => string) {
  let before: { offset: number, zone: string } | undefined
  return (): boolean => {
    const last = before
    before = { offset: clock.now() - clock.monotonic(), zone: timezone() }
    return last === undefined || Math.abs(before.offset - last.offset) > DRIFT_MS || before.zone !== last.zone
  }
}
