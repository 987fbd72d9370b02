import { DAY } from './days.ts'
import { countLocal, nextLocal, previousLocal } from './local-time.ts'
import type { CalendarPlan } from './schedule-plan.ts'
import { segmentAt, type Segment } from './zone.ts'

/** More than any zone differs from UTC and any change of the clocks together. */
const FAR = 3 * DAY

/** The first time of a plan after `after`. */
export function nextTime (plan: CalendarPlan, after: number): number | undefined {
  for (let from = after + 1; ;) {
    const segment = segmentAt(plan.timezone, from)
    if (segment.start >= from && makesUp(plan, segment)) return segment.start
    const local = nextLocal(plan, Math.max(from + segment.offset, begins(plan, segment)))
    if (local === undefined || local < segment.end + segment.offset) return local === undefined ? undefined : local - segment.offset
    from = Math.max(segment.end, local - FAR)
  }
}

/** The last time of a plan after `after` and up to `upTo`. */
export function lastTime (plan: CalendarPlan, after: number, upTo: number): number | undefined {
  for (let to = upTo; to > after;) {
    const segment = segmentAt(plan.timezone, to)
    const local = previousLocal(plan, Math.min(to + 1, segment.end) + segment.offset)
    if (local !== undefined && local >= begins(plan, segment)) return local - segment.offset > after ? local - segment.offset : undefined
    if (makesUp(plan, segment)) return segment.start > after ? segment.start : undefined
    if (local === undefined) return undefined
    to = Math.min(segment.start - 1, local + FAR)
  }
  return undefined
}

/** How many times of a plan are after `after` and not after `upTo`. */
export function countTimes (plan: CalendarPlan, after: number, upTo: number): number {
  let count = 0
  for (let from = after + 1; from <= upTo;) {
    const segment = segmentAt(plan.timezone, from)
    const { start, end, offset } = segment
    const first = start + offset
    // What was left out and what comes at the first moment after are one.
    if (start >= from && makesUp(plan, segment) && nextLocal(plan, first) !== first) count++
    count += countLocal(plan, Math.max(from + offset, begins(plan, segment)), Math.min(upTo + 1, end) + offset)
    from = end
  }
  return count
}

/** The local time at which a segment begins to count: after the hour that came before, where it comes twice. */
function begins ({ repeats }: CalendarPlan, { start, offset, before }: Segment) {
  return start + (repeats ? offset : Math.max(offset, before))
}

/** Whether a time was left out when the clocks went forward to begin a segment, so that its first moment makes up for it. */
function makesUp (plan: CalendarPlan, { start, offset, before }: Segment) {
  if (plan.repeats || before >= offset) return false
  const left = nextLocal(plan, start + before)
  return left !== undefined && left < start + offset
}
