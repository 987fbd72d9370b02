import { countTimes, lastTime, nextTime } from './calendar.ts'
import type { ExactPlan, Plan } from './schedule-plan.ts'

/** The first planned time strictly after `after`, never before `plan.startAt`; undefined when there is none. */
export function nextSlot (plan: Plan, after: number): number | undefined {
  const from = notBefore(plan, after)
  return plan.kind === 'exact' ? next(plan, from) : nextTime(plan, from)
}

/** The last planned time after `after` and up to `upTo`. */
export function lastSlotUpTo (plan: Plan, after: number, upTo: number): number | undefined {
  const from = notBefore(plan, after)
  if (plan.kind === 'calendar') return lastTime(plan, from, upTo)
  const last = next(plan, upTo) - plan.everyMs
  return last > from ? last : undefined
}

/** Counts the planned times after `after` and up to `upTo` without listing them. */
export function countSlots (plan: Plan, after: number, upTo: number): number {
  const from = notBefore(plan, after)
  if (upTo <= from) return 0
  return plan.kind === 'calendar' ? countTimes(plan, from, upTo) : Math.round((next(plan, upTo) - next(plan, from)) / plan.everyMs)
}

/** The planned times after `after` and up to `upTo`, oldest first, at most `limit`. */
export function slotsBetween (plan: Plan, after: number, upTo: number, limit: number): number[] {
  const slots: number[] = []
  for (let at = nextSlot(plan, after); at !== undefined && at <= upTo && slots.length < limit; at = nextSlot(plan, at)) slots.push(at)
  return slots
}

function next ({ anchor, everyMs }: ExactPlan, after: number) {
  return anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs
}

const notBefore = ({ startAt }: Plan, after: number) => startAt === undefined ? after : Math.max(after, startAt - 1)
