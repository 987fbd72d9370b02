import type { Fate, Slot } from '../../schemas/schedule.ts'
import { countSlots, lastSlotUpTo, nextSlot, slotsBetween } from './calendar.ts'
import { DAY } from './days.ts'
import type { Plan } from './schedule-plan.ts'

/** A slot is on time when it is noticed within this delay, so the caller must check at least this often; milliseconds. */
export const LATE_MS = 30_000

/** More consecutive times with the same fate than this become one slot with `from` and `count`. */
const MAX_LISTED = 100

export interface DueQuery {
  plan: Plan
  /** As stored from the previous result, like `next`; both absent for a new plan. On resume: the later of `lastSlot` and now. */
  lastSlot?: number
  next?: number
  now: number
  /** The number of runs that this schedule has begun, compared with `maxRuns`. */
  ran?: number
  /** The reason for which due slots are skipped, such as `overlap` while a run of the task is under way. */
  skip?: string
  /** The time since which a run waits for a person. The slots since the last call are then one, skipped, reason `waiting`. */
  waitsSince?: number
}

export interface Due {
  /** The run to begin, if any: for the planned time `at`, in place of `standsFor` planned times. */
  run?: { at: number, trigger: 'schedule' | 'catch_up', standsFor: number }
  /** The fates to store in the transaction of that run, oldest first, at most 201; the slot of the run is the last. Without run ids. */
  slots: Slot[]
  /** The fates of all times up to this are decided. Store it with `next` in the same transaction and pass both to the next call. */
  lastSlot: number
  /**
   * The planned time at which to call again; undefined when there is none. Call every LATE_MS in between, too, because
   * clocks are set and machines sleep.
   */
  next?: number
}

/**
 * Decides the fate of a schedule's times since the last call, as a pure function. Each passed time is in exactly one slot,
 * and a second call with the result changes nothing. A call begins at most one run, for the newest time that may still run.
 * Other times within the grace period are coalesced into it, and older times are missed. With `missed: skip` all times are
 * skipped except one that is on time.
 */
export function due ({ plan, lastSlot = plan.since, next, now, ran = 0, skip, waitsSince }: DueQuery): Due {
  const runsLeft = (plan.maxRuns ?? Infinity) - ran
  if (runsLeft <= 0) return { slots: [], lastSlot }
  // While the clock is behind the last slot, because it was set back, only times from the announced `next` on count.
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
 * How late a planned time may be made up for: as the schedule says, else half of the time from it to the next one, at least a day and
 * at most a week; milliseconds.
 */
export function graceOf (plan: Plan, at: number): number {
  const period = (nextSlot(plan, at) ?? Infinity) - at
  return plan.graceMs ?? Math.min(Math.max(period / 2, GRACE.min), GRACE.max)
}

/** Skips the times that have passed since the last call, for that reason, without a catch-up run. */
export function skipPassed (
  { plan, lastSlot = plan.since, now, ran = 0 }: Pick<DueQuery, 'plan' | 'lastSlot' | 'now' | 'ran'>,
  reason: string
): Omit<Due, 'run'> {
  if ((plan.maxRuns ?? Infinity) <= ran) return { slots: [], lastSlot }
  const after = Math.max(lastSlot, now)
  const slots = slotsOf(plan, lastSlot, now, { fate: 'skipped', reason })
  return { slots, lastSlot: after, next: nextSlot(plan, lastPassed(plan, after, now)) }
}

/** The next `n` planned times; fewer when `maxRuns` allows fewer runs. */
export function upcoming (plan: Plan, now: number, n: number, { lastSlot = plan.since, ran = 0 } = {}): number[] {
  return slotsBetween(plan, lastPassed(plan, lastSlot, now), Infinity, Math.min(n, (plan.maxRuns ?? Infinity) - ran))
}

/**
 * The time after which the next slot lies. When the clock was set back by less than a period, this is the last slot, so
 * that no slot occurs twice. When it was set back further, this is now; otherwise the schedule would stand still for long.
 */
function lastPassed (plan: Plan, lastSlot: number, now: number) {
  const next = lastSlot > now ? nextSlot(plan, now) : undefined
  return next === undefined || next < lastSlot ? now : lastSlot
}

/** One slot for each time, or one slot for all when there are more than MAX_LISTED. */
function slotsOf (plan: Plan, after: number, upTo: number, fate: { fate: Fate, reason?: string, into?: number }): Slot[] {
  const listed = slotsBetween(plan, after, upTo, MAX_LISTED + 1)
  if (listed.length <= MAX_LISTED) return listed.map((at) => ({ at, ...fate }))
  return [{ ...rangeOf(plan, after, upTo), ...fate }]
}

/** The times after one and up to another, of which there is at least one, as the range of one slot. */
function rangeOf (plan: Plan, after: number, upTo: number): Pick<Slot, 'at' | 'from' | 'count'> {
  const at = lastSlotUpTo(plan, after, upTo)!
  const count = countSlots(plan, after, upTo)
  return count === 1 ? { at } : { from: slotsBetween(plan, after, upTo, 1)[0], at, count }
}
