import type { Schedule, Slot } from '../../../schemas/schedule.ts'
import type { Clock } from '../../lib/clock.ts'
import { due, skipPassed, upcoming, type Due } from './calendar/due.ts'
import { parseSchedule } from './calendar/parse-schedule.ts'
import { inMachineZone } from './calendar/schedule-plan.ts'
import { nextSlot } from './calendar/slots.ts'
import { machineTimezone } from './calendar/zone.ts'
import type { Op, Store } from '../../store/store-types.ts'
import { outcomeOfSlot } from './outcomes.ts'
import { slotKey, slotsPrefix, withoutTiming, type StoredTask } from '../task-records.ts'

/** Slots kept of a task, and how many more may be there before the oldest go. */
const KEPT = 1_000
const SLACK = 500

export type Schedules = ReturnType<typeof createSchedules>

/** The schedules of tasks: when they begin, what is due, and what became of every planned time. */
export function createSchedules ({ store, clock, timezone = machineTimezone }: { store: Store, clock: Clock, timezone?: () => string }) {
  const parse = (schedule: Schedule) => parseSchedule(schedule, { timezone: timezone(), now: clock.now() })

  async function begin (task: StoredTask): Promise<StoredTask> {
    if (task.schedule === undefined) return task
    const timing = await parse(task.schedule)
    return { ...task, timing, lastSlot: timing.since, slotRuns: 0, ...next(nextSlot(timing, timing.since)) }
  }

  /** The operations that keep these slots, and forget the oldest when there are many. */
  async function keep (task: StoredTask, slots: Slot[]): Promise<{ ops: Op[], slotCount: number }> {
    const ops: Op[] = []
    let slotCount = task.slotCount ?? 0
    const settledAt = clock.now()
    for (const slot of slots) {
      // Once the clock was set back, a time may come again; what it became last is what is told of it.
      const before = await store.get<Slot>(slotKey(task.id, slot))
      const settled = { ...slot, settledAt }
      ops.push(...before === undefined ? [] : outcomeOfSlot('del', task.id, before), {
        type: 'put',
        key: slotKey(task.id, slot),
        value: settled
      }, ...outcomeOfSlot('put', task.id, settled))
      slotCount += before === undefined ? 1 : 0
    }
    if (slotCount <= KEPT + SLACK) return { ops, slotCount }
    const oldest = await removal(task.id, slotCount - KEPT)
    return { ops: [...oldest.ops, ...ops], slotCount: slotCount - oldest.slots }
  }

  /** The operations that remove the oldest slots of a task, and how many slots those are. */
  async function removal (taskId: string, most: number): Promise<{ ops: Op[], slots: number }> {
    const ops: Op[] = []
    let slots = 0
    const damaged = (key: string) => {
      ops.push({ type: 'del', key })
      slots++
    }
    for await (const [key, slot] of store.list<Slot>(slotsPrefix(taskId), { limit: most, damaged })) {
      ops.push({ type: 'del', key }, ...outcomeOfSlot('del', taskId, slot))
      slots++
    }
    return { ops, slots }
  }

  /** The task once what passed since the last look has gone by, for that reason, and the operations that keep it. */
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

    /** Throws BadSchedule (400) that lists what can be read. */
    check: async (schedule: Schedule): Promise<void> => {
      await parse(schedule)
    },

    /** The task with its schedule counted from now. */
    begin,

    /** The task with another schedule, counted from now where the old one was under way. */
    async replace (task: StoredTask, schedule: Schedule): Promise<{ task: StoredTask, ops: Op[] }> {
      // Also while a run by hand of a paused task is at work.
      const isPaused = task.status === 'paused' || task.returnTo === 'paused'
      const { task: settled, ops } = await skipElapsed(task, isPaused ? 'paused' : 'changed')
      const changed = { ...withoutTiming(settled), schedule }
      const begun = task.timing === undefined ? changed : await begin(changed)
      return { task: isPaused ? withoutNext(begun) : begun, ops }
    },

    /** The task with its schedule going on from now: what passed meanwhile is not made up for. */
    resume: async (task: StoredTask): Promise<{ task: StoredTask, ops: Op[] }> =>
      task.timing === undefined ? { task: await begin(task), ops: [] } : skipElapsed(task, 'paused'),

    /** The task without its schedule under way. */
    async end (task: StoredTask, reason: string): Promise<{ task: StoredTask, ops: Op[] }> {
      const { task: settled, ops } = await skipElapsed(task, reason)
      return { task: withoutTiming(settled), ops }
    },

    /** What became of the planned times since the last look; undefined when there are none to look at. */
    look (task: StoredTask): { task: StoredTask, found: Due } | undefined {
      if (task.timing === undefined) return undefined
      const timing = inMachineZone(task.timing, timezone())
      const found = due({
        plan: timing,
        lastSlot: task.lastSlot,
        next: task.nextRunAt,
        now: clock.now(),
        ran: task.slotRuns,
        busy: task.status !== 'scheduled'
      })
      return { task: { ...withoutNext(task), timing, lastSlot: found.lastSlot, ...next(found.next) }, found }
    },

    /** The next planned times: of a schedule that is not under way, as if it were started now. */
    async upcoming (task: StoredTask, n: number): Promise<number[]> {
      const timing = task.timing === undefined ? await parse(task.schedule!) : inMachineZone(task.timing, timezone())
      return upcoming(timing, clock.now(), n, { lastSlot: task.lastSlot, ran: task.slotRuns })
    },

    /** What became of planned times, newest first, before `cursor`. */
    async slots (taskId: string, limit: number, cursor?: number): Promise<{ slots: Slot[], nextCursor?: string }> {
      const slots: Slot[] = []
      const options = { reverse: true, ...(cursor !== undefined && { after: slotKey(taskId, { at: cursor }) }), damaged () {} }
      for await (const [, slot] of store.list<Slot>(slotsPrefix(taskId), options)) {
        if (slots.length === limit) return { slots, nextCursor: String(slots[limit - 1].at) }
        slots.push(slot)
      }
      return { slots }
    }
  }
}

const next = (at: number | undefined) => at === undefined ? {} : { nextRunAt: at }
const withoutNext = ({ nextRunAt, ...task }: StoredTask): StoredTask => task
