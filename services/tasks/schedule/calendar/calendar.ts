import { DAY } from './days.ts'
import { countLocal, nextLocal, previousLocal } from './local-time.ts'
import type { CalendarPlan } from './schedule-plan.ts'
import { segmentAt, type Segment } from './zone.ts'

/** More than the largest offset from UTC and the largest clock change together; milliseconds. */
const MARGIN = 3 * DAY

/** The first time of a plan after `after`. */
export function nextTime (plan: CalendarPlan, after: number): number | undefined {
  for (let from = after + 1; ;) {
    const segment = segmentAt(plan.timezone, from)
    if (segment.start >= from && hasSkippedTime(plan, segment)) return segment.start
    const local = nextLocal(plan, Math.max(from + segment.offset, firstLocalTime(plan, segment)))
    if (local === undefined || local < segment.end + segment.offset) return local === undefined ? undefined : local - segment.offset
    from = Math.max(segment.end, local - MARGIN)
  }
}

/** The last time of a plan after `after` and up to `upTo`. */
export function lastTime (plan: CalendarPlan, after: number, upTo: number): number | undefined {
  for (let to = upTo; to > after;) {
    const segment = segmentAt(plan.timezone, to)
    const local = previousLocal(plan, Math.min(to + 1, segment.end) + segment.offset)
    if (local !== undefined && local >= firstLocalTime(plan, segment)) {
      return local - segment.offset > after ? local - segment.offset : undefined
    }
    if (hasSkippedTime(plan, segment)) return segment.start > after ? segment.start : undefined
    if (local === undefined) return undefined
    to = Math.min(segment.start - 1, local + MARGIN)
  }
  return undefined
}

/** Counts the times of a plan after `after` and up to `upTo`. */
export function countTimes (plan: CalendarPlan, after: number, upTo: number): number {
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
