import type { ReadTime, When } from '../../contracts/task-control.ts'
import type { PreviewScheduleBody, Schedule, SchedulePreview, Slot } from '../../../schemas/schedule.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  BadSchedule,
  due,
  type Due,
  type DueQuery,
  inMachineZone,
  isOnce,
  machineTimezone,
  nextSlot,
  readSchedule,
  readText,
  readWhen,
  skipPassed,
  upcoming,
  whyConfirm
} from '../../calendar/index.ts'
import { type Op, slotKey, slotsPrefix, type Store } from '../../store/index.ts'
import { BadTask } from '../task-errors.ts'
import { outcomeOfSlot } from './outcomes.ts'
import { withoutTiming, type StoredTask } from '../task-records.ts'

/** The most slots that are stored for each task. */
const MAX_SLOTS = 1_000
/** How many slots above MAX_SLOTS can accumulate before the oldest are removed together. */
const SLACK = 500

export type Schedules = ReturnType<typeof createSchedules>

/**
 * Creates the service for the schedules of tasks: it activates them, finds due slots, and stores what became of every slot (a planned time
 * of a run).
 */
export function createSchedules ({ store, clock, timezone = machineTimezone }: { store: Store, clock: Clock, timezone?: () => string }) {
  const machine = () => ({ timezone: timezone(), now: clock.now() })
  const read = (schedule: Schedule) => readSchedule(schedule, machine())

  async function begin (task: StoredTask): Promise<StoredTask> {
    if (task.schedule === undefined) return task
    const { plan: timing, words: scheduleWords } = await read(task.schedule)
    return { ...withoutTiming(task), scheduleWords, timing, lastSlot: timing.since, slotRuns: 0, ...next(nextSlot(timing, timing.since)) }
  }

  /** Returns the operations that store slots and remove the oldest slots of the task if there are too many, and the new number of slots. */
  async function keep (task: StoredTask, slots: Slot[]): Promise<{ ops: Op[], slotCount: number }> {
    const ops: Op[] = []
    let slotCount = task.slotCount ?? 0
    const settledAt = clock.now()
    const [first] = slots
    const earlier = first?.reason === 'waiting' ? (await page(task.id, 1)).slots[0] : undefined
    if (earlier !== undefined && isSameWait(earlier, first)) {
      ops.push({ type: 'del', key: slotKey(task.id, earlier) }, ...outcomeOfSlot('del', task.id, earlier))
      slotCount--
      slots = [joined(earlier, first), ...slots.slice(1)]
    }
    for (const slot of slots) {
      // After the clock was set back, the same slot can occur again. Its new fate replaces the earlier one.
      const before = await store.get<Slot>(slotKey(task.id, slot))
      const settled = { ...slot, settledAt }
      ops.push(...before === undefined ? [] : outcomeOfSlot('del', task.id, before), {
        type: 'put',
        key: slotKey(task.id, slot),
        value: settled
      }, ...outcomeOfSlot('put', task.id, settled))
      slotCount += before === undefined ? 1 : 0
    }
    if (slotCount <= MAX_SLOTS + SLACK) return { ops, slotCount }
    const oldest = await removal(task.id, slotCount - MAX_SLOTS)
    return { ops: [...oldest.ops, ...ops], slotCount: slotCount - oldest.slots }
  }

  /** Returns a page of past slots, newest first, earlier than `cursor` (milliseconds since the Unix epoch). */
  async function page (taskId: string, limit: number, cursor?: number): Promise<{ slots: Slot[], nextCursor?: string }> {
    const slots: Slot[] = []
    const options = { reverse: true, ...(cursor !== undefined && { after: slotKey(taskId, { at: cursor }) }), damaged () {} }
    for await (const [, slot] of store.list<Slot>(slotsPrefix(taskId), options)) {
      if (slots.length === limit) return { slots, nextCursor: String(slots[limit - 1].at) }
      slots.push(slot)
    }
    return { slots }
  }

  /** Returns the operations that remove up to `limit` of the oldest slots of a task, and the number of slots that they remove. */
  async function removal (taskId: string, limit: number): Promise<{ ops: Op[], slots: number }> {
    const ops: Op[] = []
    let slots = 0
    const damaged = (key: string) => {
      ops.push({ type: 'del', key })
      slots++
    }
    for await (const [key, slot] of store.list<Slot>(slotsPrefix(taskId), { limit, damaged })) {
      ops.push({ type: 'del', key }, ...outcomeOfSlot('del', taskId, slot))
      slots++
    }
    return { ops, slots }
  }

  /** Skips the slots that have passed since the last check, for `reason`. Returns the task and the operations that store the slots. */
  async function skipElapsed (task: StoredTask, reason: string): Promise<{ task: StoredTask, ops: Op[] }> {
    if (task.timing === undefined) return { task, ops: [] }
    const timing = inMachineZone(task.timing, timezone())
    const { slots, lastSlot, next: at } = skipPassed(
      { plan: timing, lastSlot: task.lastSlot, now: clock.now(), ran: task.slotRuns },
      reason
    )
    const { ops, slotCount } = await keep(task, slots)
    return { task: { ...withoutNext(task), timing, lastSlot, slotCount, ...next(at) }, ops }
  }

  return {
    timezone,
    keep,
    removal,

    /**
     * Returns the schedule in words. If the schedule cannot be parsed, throws BadSchedule (400), whose message lists the supported forms.
     */
    describe: async (schedule: Schedule): Promise<string> => (await read(schedule)).words,

    /**
     * Parses a time that a model passed; see TaskCreation. `written`: the user's message, to decide whether the user
     * has to confirm the time. Returns undefined for no time.
     */
    async readWhen (when: When, written?: string): Promise<ReadTime | undefined> {
      const found = await readWhen(when, machine())
      if (found === undefined) return undefined
      const { schedule, words, zone, next } = found
      return { schedule, words, zone, next, confirm: await whyConfirm(found, written, machine()) }
    },

    /** Returns how the service understands a schedule or a text about time. Throws BadTask (400) unless exactly one of the two is given. */
    async preview ({ schedule, text, timezone: zone }: PreviewScheduleBody): Promise<SchedulePreview> {
      if ((schedule === undefined) === (text === undefined) || (schedule !== undefined && zone !== undefined)) {
        throw new BadTask('Give either "schedule", with its own timezone, or "text", with an optional "timezone" beside it.')
      }
      try {
        const found = schedule === undefined ? await readText(text!, { ...machine(), zone }) : await read(schedule)
        const confirm = schedule === undefined ? await whyConfirm(found, undefined, machine()) : undefined
        return {
          understood: true,
          schedule: found.schedule,
          words: found.words,
          zone: found.zone,
          next: found.next,
          ...confirm !== undefined && { confirm }
        }
      } catch (error) {
        if (!(error instanceof BadSchedule)) throw error
        return { understood: false, reason: error.message }
      }
    },

    /** Activates the schedule of the task from now. */
    begin,

    /** Replaces the schedule of the task. If the old schedule was active, the new schedule is active from now. */
    async replace (task: StoredTask, schedule: Schedule): Promise<{ task: StoredTask, ops: Op[] }> {
      // During a manual run of a paused task, `returnTo` says that the task is paused again afterwards.
      const isPaused = task.status === 'paused' || task.returnTo === 'paused'
      const { task: skipped, ops } = await skipElapsed(task, isPaused ? 'paused' : 'changed')
      const changed = { ...withoutTiming(skipped), schedule, scheduleWords: (await read(schedule)).words }
      const begun = task.timing === undefined ? changed : await begin(changed)
      return { task: isPaused ? withoutNext(begun) : begun, ops }
    },

    /**
     * Continues the schedule of a paused task from now. Slots that passed during the pause are skipped. A single
     * time that passed is kept, so that the task still runs or asks.
     */
    async resume (task: StoredTask): Promise<{ task: StoredTask, ops: Op[] }> {
      if (task.timing === undefined) return { task: await begin(task), ops: [] }
      if (!isOnce(task.timing)) return skipElapsed(task, 'paused')
      const timing = inMachineZone(task.timing, timezone())
      return { task: { ...withoutNext(task), timing, ...next(nextSlot(timing, task.lastSlot ?? timing.since)) }, ops: [] }
    },

    /** Deactivates the schedule of the task. */
    async end (task: StoredTask, reason: string): Promise<{ task: StoredTask, ops: Op[] }> {
      const { task: skipped, ops } = await skipElapsed(task, reason)
      return { task: withoutTiming(skipped), ops }
    },

    /**
     * Decides the fate of the slots since the last check. With `skip`, a reason, they are skipped. Returns undefined
     * without an active schedule.
     */
    decideDue (task: StoredTask, skip?: string): { task: StoredTask, found: Due } | undefined {
      if (task.timing === undefined) return undefined
      const timing = inMachineZone(task.timing, timezone())
      const found = dueAfter(task.health?.nextTryAt, {
        plan: timing,
        lastSlot: task.lastSlot,
        next: task.nextRunAt,
        now: clock.now(),
        ran: task.slotRuns,
        skip: task.status === 'scheduled' ? skip : 'overlap',
        waitsSince: task.status === 'pending_approval' ? task.waitsSince : undefined
      })
      return { task: { ...withoutNext(task), timing, lastSlot: found.lastSlot, ...next(found.next) }, found }
    },

    /** Returns the next `n` planned times before the end time of the task. An inactive schedule is read as if it started now. */
    async upcoming (task: StoredTask, n: number): Promise<number[]> {
      // A single time that is over cannot be parsed again.
      const timing = task.timing === undefined
        ? await read(task.schedule!).then(({ plan }) => plan, () => undefined)
        : inMachineZone(task.timing, timezone())
      const from = Math.max(clock.now(), (task.health?.nextTryAt ?? 0) - 1)
      if (timing === undefined) return []
      return upcoming(timing, from, n, { lastSlot: task.lastSlot, ran: task.slotRuns }).filter((at) => at < (task.endsAt ?? Infinity))
    },

    slots: page
  }
}

/** True if the later slot (second parameter) and the earlier one passed while the same question waited. */
const isSameWait = (earlier: Slot, { since, at, from = at }: Slot): boolean =>
  earlier.reason === 'waiting' && earlier.since === since && earlier.at < from

/** Joins an earlier and a later slot into one that covers the times of both. */
const joined = ({ at, from = at, count = 1 }: Slot, { count: more = 1, ...later }: Slot): Slot => ({ ...later, from, count: count + more })

/** Decides the fate of the slots since the last check. Slots before `tryAt`, the next try of a failing task, are skipped. */
function dueAfter (tryAt: number | undefined, query: DueQuery): Due {
  if (tryAt === undefined || query.skip !== undefined) return due(query)
  const held = due({ ...query, now: Math.min(query.now, tryAt - 1), skip: 'failing' })
  if (query.now < tryAt) return held
  const found = due({ ...query, lastSlot: held.lastSlot, next: held.next })
  return { ...found, slots: [...held.slots, ...found.slots] }
}

const next = (at: number | undefined) => at === undefined ? {} : { nextRunAt: at }
const withoutNext = ({ nextRunAt, ...task }: StoredTask): StoredTask => task
