import type { Fate, Slot } from '../../../../schemas/schedule.ts'
import type { Plan } from './schedule-plan.ts'
import { countSlots, lastSlotUpTo, nextSlot, slotsBetween } from './slots.ts'

/** A planned time is kept when it is noticed within this; look at least as often. */
export const LATE_MS = 30_000

/** More times in a row with one fate than this are one slot with `from` and `count`. */
const LISTED = 100

export interface Asked {
  plan: Plan
  /** Both as the answer before gave them and as they were stored; absent at first and on a new plan. On resume: the later of `lastSlot` and now. */
  lastSlot?: number
  next?: number
  now: number
  /** How many runs this schedule has begun (`run` answers), for `maxRuns`. */
  ran?: number
  /** A run of the task is under way or waits for an approval: times that come are skipped, reason `overlap`. */
  busy?: boolean
  lateMs?: number
}

export interface Due {
  /** The one run to begin, if any: for the planned time `at`, standing for so many planned times. */
  run?: { at: number, trigger: 'schedule' | 'catch_up', standsFor: number }
  /** The fates to store in the batch of that run, oldest first, at most 201 of them; the run's own is the last. Without run ids. */
  slots: Slot[]
  /** All times up to this have had their fates. Store it and `next` in the same batch, and give them next time. */
  lastSlot: number
  /** The planned time to ask again at; undefined when nothing is ahead. Ask in between too, every LATE_MS: clocks are set and machines sleep. */
  next?: number
}

/**
 * What became of a schedule's times since the last look, as a pure function. Each time that passed is in exactly one slot;
 * asking again with what came out changes nothing. At most one run an answer, for the newest time that may still run:
 * the others within grace are coalesced into it, older ones missed; with `missed: skip` all but one on time are skipped.
 */
export function due ({ plan, lastSlot = plan.since, next, now, ran = 0, busy = false, lateMs = LATE_MS }: Asked): Due {
  const left = plan.maxRuns === undefined ? Infinity : plan.maxRuns - ran
  if (left <= 0) return { slots: [], lastSlot }
  // While the clock is behind the last slot, only what was announced since counts.
  const after = lastSlot > now && next !== undefined ? Math.min(lastSlot, next - 1) : lastSlot
  const newest = lastSlotUpTo(plan, after, now)
  if (newest === undefined) return { slots: [], lastSlot, next: nextSlot(plan, passed(plan, lastSlot, now)) }

  const skips = plan.missed === 'skip'
  const oldest = now - (skips ? lateMs : Math.max(plan.graceMs, lateMs))
  const inTime = skips ? Math.max(oldest, newest) : oldest
  const old = slotsOf(plan, after, Math.min(inTime - 1, newest), skips ? { fate: 'skipped', reason: 'late' } : { fate: 'missed' })
  if (newest < inTime) return { slots: old, lastSlot: newest, next: nextSlot(plan, now) }
  const from = Math.max(after, inTime - 1)
  if (busy) {
    return {
      slots: [...old, ...slotsOf(plan, from, newest, { fate: 'skipped', reason: 'overlap' })],
      lastSlot: newest,
      next: nextSlot(plan, now)
    }
  }
  const standsFor = countSlots(plan, from, newest)
  return {
    run: { at: newest, trigger: standsFor > 1 || newest < now - lateMs ? 'catch_up' : 'schedule', standsFor },
    slots: [...old, ...slotsOf(plan, from, newest - 1, { fate: 'coalesced', into: newest }), { at: newest, fate: 'run' }],
    lastSlot: newest,
    next: left > 1 ? nextSlot(plan, now) : undefined
  }
}

/** Lets the times that have passed since the last look go by, for that reason: none of them is made up for. */
export function skipPassed (
  { plan, lastSlot = plan.since, now, ran = 0 }: Pick<Asked, 'plan' | 'lastSlot' | 'now' | 'ran'>,
  reason: string
): Omit<Due, 'run'> {
  const left = plan.maxRuns === undefined ? Infinity : plan.maxRuns - ran
  if (left <= 0) return { slots: [], lastSlot }
  const after = Math.max(lastSlot, now)
  return {
    slots: slotsOf(plan, lastSlot, now, { fate: 'skipped', reason }),
    lastSlot: after,
    next: nextSlot(plan, passed(plan, after, now))
  }
}

/** The next `n` planned times as they will come: after what has passed, not more than `maxRuns` leaves. */
export function upcoming (plan: Plan, now: number, n: number, { lastSlot = plan.since, ran = 0 } = {}): number[] {
  const left = plan.maxRuns === undefined ? n : Math.min(n, plan.maxRuns - ran)
  return slotsBetween(plan, passed(plan, lastSlot, now), Infinity, left)
}

/**
 * What the next time comes after. When the clock was set back by less than a period, the last slot is waited for, so that
 * no time comes twice. By more, that would be to stand still, and the schedule goes on where the clock is.
 */
function passed (plan: Plan, lastSlot: number, now: number) {
  const next = lastSlot > now ? nextSlot(plan, now) : undefined
  return next === undefined || next < lastSlot ? now : lastSlot
}

/** One slot each, or one for all of them when they are many. */
function slotsOf (plan: Plan, after: number, upTo: number, fate: { fate: Fate, reason?: string, into?: number }): Slot[] {
  const listed = slotsBetween(plan, after, upTo, LISTED + 1)
  if (listed.length <= LISTED) return listed.map((at) => ({ at, ...fate }))
  return [{ from: listed[0], at: lastSlotUpTo(plan, after, upTo)!, count: countSlots(plan, after, upTo), ...fate }]
}
