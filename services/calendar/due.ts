import type { Fate, Slot } from '../../schemas/schedule.ts'
import { countSlots, lastSlotUpTo, nextSlot, slotsBetween } from './calendar.ts'
import { DAY } from './days.ts'
import type { Plan } from './schedule-plan.ts'

/** A slot is on time if it is noticed within this many milliseconds, so the caller must check at least this often. */
export const LATE_MS = 30_000

/** If more consecutive times than this have the same fate, they become one slot with `from` and `count`. */
const MAX_LISTED = 100

export interface DueQuery {
  plan: Plan
  /**
   * `lastSlot` and `next` of the previous result; both absent for a new plan. On resume, `lastSlot` is the later
   * of the stored value and now.
   */
  lastSlot?: number
  next?: number
  now: number
  /** The number of runs that this schedule has begun, to compare with `maxRuns`. */
  ran?: number
  /** The reason why due slots are skipped, such as `overlap` while a run of the task is active. */
  skip?: string
  /**
   * The time since which a run waits for a person. All times since the last call then become one skipped slot with the reason `waiting`.
   */
  waitsSince?: number
}

export interface Due {
  /** The run to begin, if any, for the planned time `at`. It stands for `standsFor` planned times. */
  run?: { at: number, trigger: 'schedule' | 'catch_up', standsFor: number }
  /**
   * The slots to store in the transaction of that run, oldest first, at most 201. The last one is the slot of the
   * run. They have no run ids yet.
   */
  slots: Slot[]
  /**
   * The fates of all times up to this time are decided. Store `lastSlot` and `next` in the same transaction, and
   * pass both to the next call.
   */
  lastSlot: number
  /**
   * The planned time at which to call again; undefined if there is none. Also call every LATE_MS in between,
   * because clocks are set and computers sleep.
   */
  next?: number
}

/**
 * Decides the fate of the times of a schedule since the last call, as a pure function. Each passed time is in
 * exactly one slot, and a second call with the result changes nothing. A call begins at most one run, for the
 * newest time that can still run. Other times within the grace period are coalesced into this run, and older
 * times are missed. With `missed: skip`, all times are skipped, except the newest if it is on time.
 */
export function due ({ plan, lastSlot = plan.since, next, now, ran = 0, skip, waitsSince }: DueQuery): Due {
  const runsLeft = (plan.maxRuns ?? Infinity) - ran
  if (runsLeft <= 0) return { slots: [], lastSlot }
  // If the clock was set back to before the last slot, only times from the announced `next` on count.
  const after = lastSlot > now && next !== undefined ? Math.min(lastSlot, next - 1) : lastSlot
  const newest = lastSlotUpTo(plan, after, now)
  if (newest === undefined) return { slots: [], lastSlot, next: nextSlot(plan, lastPassed(plan, lastSlot, now)) }

  const settle = (...slots: Slot[]): Due => ({ slots, lastSlot: newest, next: nextSlot(plan, now) })
  if (waitsSince !== undefined) return settle({ ...rangeOf(plan, after, newest), fate: 'skipped', reason: 'waiting', since: waitsSince })
  const skips = plan.missed === 'skip'
  const oldest = now - (skips ? LATE_MS : Math.max(graceOf(plan, newest), LATE_MS))
  const inTime = skips ? Math.max(oldest, newest) : oldest
  const old = slotsOf(plan, after, Math.min(inTime - 1, newest), skips ? { fate: 'skipped', reason: 'late' } : { fate: 'missed' })
  if (newest < inTime) return settle(...old)
  const from = Math.max(after, inTime - 1)
  if (skip !== undefined) return settle(...old, ...slotsOf(plan, from, newest, { fate: 'skipped', reason: skip }))
  const standsFor = countSlots(plan, from, newest)
  const run = { at: newest, trigger: standsFor > 1 || newest < now - LATE_MS ? 'catch_up' : 'schedule', standsFor } as const
  const coalesced = slotsOf(plan, from, newest - 1, { fate: 'coalesced', into: newest })
  const settled = settle(...old, ...coalesced, { at: newest, fate: 'run' })
  return { ...settled, run, next: runsLeft > 1 ? settled.next : undefined }
}

const GRACE = { min: DAY, max: 7 * DAY }

/**
 * Returns the grace period of a planned time, in milliseconds: how late it can still run. Without a value in the
 * schedule, it is half of the time until the next planned time, at least a day and at most a week.
 */
export function graceOf (plan: Plan, at: number): number {
  const period = (nextSlot(plan, at) ?? Infinity) - at
  return plan.graceMs ?? Math.min(Math.max(period / 2, GRACE.min), GRACE.max)
}

/** Skips the times that have passed since the last call, for `reason`, without a catch-up run. */
export function skipPassed (
  { plan, lastSlot = plan.since, now, ran = 0 }: Pick<DueQuery, 'plan' | 'lastSlot' | 'now' | 'ran'>,
  reason: string
): Omit<Due, 'run'> {
  if ((plan.maxRuns ?? Infinity) <= ran) return { slots: [], lastSlot }
  const after = Math.max(lastSlot, now)
  const slots = slotsOf(plan, lastSlot, now, { fate: 'skipped', reason })
  return { slots, lastSlot: after, next: nextSlot(plan, lastPassed(plan, after, now)) }
}

/** Returns the next `n` planned times; fewer if `maxRuns` allows fewer runs. */
export function upcoming (plan: Plan, now: number, n: number, { lastSlot = plan.since, ran = 0 } = {}): number[] {
  return slotsBetween(plan, lastPassed(plan, lastSlot, now), Infinity, Math.min(n, (plan.maxRuns ?? Infinity) - ran))
}

/**
 * Returns the time after which the next slot lies. If the clock was set back by less than a period, this is the last slot, so that
 * no slot occurs twice. If the clock was set back further, this is now, because the schedule would otherwise stand still for long.
 */
function lastPassed (plan: Plan, lastSlot: number, now: number) {
  const next = lastSlot > now ? nextSlot(plan, now) : undefined
  return next === undefined || next < lastSlot ? now : lastSlot
}

/** Returns one slot for each time, or one slot for all times if there are more than MAX_LISTED. */
function slotsOf (plan: Plan, after: number, upTo: number, fate: { fate: Fate, reason?: string, into?: number }): Slot[] {
  const listed = slotsBetween(plan, after, upTo, MAX_LISTED + 1)
  if (listed.length <= MAX_LISTED) return listed.map((at) => ({ at, ...fate }))
  return [{ ...rangeOf(plan, after, upTo), ...fate }]
}

/** Returns the times after `after` and up to `upTo` as the range of one slot. There must be at least one time. */
function rangeOf (plan: Plan, after: number, upTo: number): Pick<Slot, 'at' | 'from' | 'count'> {
  const at = lastSlotUpTo(plan, after, upTo)!
  const count = countSlots(plan, after, upTo)
  return count === 1 ? { at } : { from: slotsBetween(plan, after, upTo, 1)[0], at, count }
}
