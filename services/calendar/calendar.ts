import { DAY } from './days.ts'
import { countLocal, nextLocal } from './local-time.ts'
import type { CalendarPlan, ExactPlan, Plan } from './schedule-plan.ts'
import { segmentAt, type Segment } from './zone.ts'

/** More than the largest offset from UTC and the largest clock change together; milliseconds. */
const MARGIN = 3 * DAY

/** The first time of a plan after `after`. */
function nextTime (plan: CalendarPlan, after: number): number | undefined {
  for (let from = after + 1; ;) {
    const segment = segmentAt(plan.timezone, from)
    if (segment.start >= from && hasSkippedTime(plan, segment)) return segment.start
    const local = nextLocal(plan, Math.max(from + segment.offset, firstLocalTime(plan, segment)))
    if (local === undefined || local < segment.end + segment.offset) return local === undefined ? undefined : local - segment.offset
    from = Math.max(segment.end, local - MARGIN)
  }
}

/** Counts the times of a plan after `after` and up to `upTo`. */
function countTimes (plan: CalendarPlan, after: number, upTo: number): number {
  let count = 0
  for (let from = after + 1; from <= upTo;) {
    const segment = segmentAt(plan.timezone, from)
    const { start, end, offset } = segment
    const first = start + offset
    // A skipped time and a time at the first moment of the segment count once.
    if (start >= from && hasSkippedTime(plan, segment) && nextLocal(plan, first) !== first) count++
    count += countLocal(plan, Math.max(from + offset, firstLocalTime(plan, segment)), Math.min(upTo + 1, end) + offset)
    from = end
  }
  return count
}

/** The local time from which a segment counts. When the clocks went back, it excludes the hour that already occurred. */
function firstLocalTime ({ repeats }: CalendarPlan, { start, offset, before }: Segment) {
  return start + (repeats ? offset : Math.max(offset, before))
}

/** Whether the clocks skipped a planned time when they went forward into the segment; its first moment then stands for that time. */
function hasSkippedTime (plan: CalendarPlan, { start, offset, before }: Segment) {
  if (plan.repeats || before >= offset) return false
  const skipped = nextLocal(plan, start + before)
  return skipped !== undefined && skipped < start + offset
}

/** The first planned time strictly after `after`, never before `plan.startAt`; undefined when there is none. */
export function nextSlot (plan: Plan, after: number): number | undefined {
  const from = notBefore(plan, after)
  if (plan.kind === 'moment') return plan.at > from ? plan.at : undefined
  return plan.kind === 'exact' ? nextMultiple(plan, from) : nextTime(plan, from)
}

/** The last planned time after `after` and up to `upTo`: the span behind a known one is halved until it holds no other. */
export function lastSlotUpTo (plan: Plan, after: number, upTo: number): number | undefined {
  let [last] = slotsBetween(plan, after, upTo, 1)
  for (let end = upTo; last < end;) {
    const middle = Math.ceil((last + end) / 2)
    const [later] = slotsBetween(plan, middle - 1, end, 1)
    if (later === undefined) end = middle - 1
    else last = later
  }
  return last
}

/** Counts the planned times after `after` and up to `upTo` without listing them. */
export function countSlots (plan: Plan, after: number, upTo: number): number {
  const from = notBefore(plan, after)
  if (upTo <= from) return 0
  if (plan.kind === 'calendar') return countTimes(plan, from, upTo)
  return plan.kind === 'moment'
    ? slotsBetween(plan, from, upTo, 1).length
    : Math.round((nextMultiple(plan, upTo) - nextMultiple(plan, from)) / plan.everyMs)
}

/** The planned times after `after` and up to `upTo`, oldest first, at most `limit`. */
export function slotsBetween (plan: Plan, after: number, upTo: number, limit: number): number[] {
  const slots: number[] = []
  for (let at = nextSlot(plan, after); at !== undefined && at <= upTo && slots.length < limit; at = nextSlot(plan, at)) slots.push(at)
  return slots
}

const nextMultiple = ({ anchor, everyMs }: ExactPlan, after: number) => anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs

const notBefore = ({ startAt }: Plan, after: number) => startAt === undefined ? after : Math.max(after, startAt - 1)
