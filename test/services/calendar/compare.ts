import { parseSchedule } from '../../../services/calendar/parse-schedule.ts'
import { countSlots, lastSlotUpTo, slotsBetween } from '../../../services/calendar/calendar.ts'
import { cases, ZONES, type Case } from './cases.ts'
import { changes } from './oracle.ts'

const DAY = 24 * 60 * 60 * 1000

/** The first difference between what is planned and what is expected, in words; undefined when there is none. */
async function difference ({ schedule, expected }: Case, timezone: string, from: number, to: number): Promise<string | undefined> {
  const plan = await parseSchedule({ ...schedule, timezone }, { timezone: 'UTC', now: from })
  const wanted = expected(timezone, from, to)
  const forwards = slotsBetween(plan, from - 1, to - 1, Infinity)
  const backwards: number[] = []
  for (let at = lastSlotUpTo(plan, from - 1, to - 1); at !== undefined; at = lastSlotUpTo(plan, from - 1, at - 1)) backwards.unshift(at)
  const counted = countSlots(plan, from - 1, to - 1)

  const name = `${schedule.interval} in ${timezone}`
  const i = wanted.findIndex((at, i) => at !== forwards[i])
  if (i >= 0 || forwards.length > wanted.length) {
    return `${name}: expected ${show(wanted[i])}, planned ${show(forwards[i < 0 ? wanted.length : i])}`
  }
  if (backwards.join() !== forwards.join()) return `${name}: otherwise backwards from ${show(from)} to ${show(to)}`
  if (counted !== forwards.length) return `${name}: ${counted} counted, ${forwards.length} listed from ${show(from)} to ${show(to)}`
  return undefined
}

const show = (time: number | undefined) => time === undefined ? 'nothing' : new Date(time).toISOString()

/**
 * Compares every case in a zone with Temporal and croner over its ten years, or the days around some changes of its
 * clocks and some others.
 */
export async function compareZone (timezone: string, { whole }: { whole: boolean }): Promise<{ compared: number, differences: string[] }> {
  const [first, last] = ZONES[timezone]
  const start = Date.UTC(first, 1, 10)
  const end = Date.UTC(last, 0, 1)
  const changed = changes(timezone, start, end)
  const windows = whole
    ? [[start, end]]
    : [...new Set([...changed.slice(0, 3), ...changed.slice(-4), start + 1_500 * DAY])].map((at) => [at - 2 * DAY, at + 2 * DAY - 1])
  const differences: string[] = []
  let compared = 0
  for (const one of cases(first)) {
    for (const [from, to] of windows) {
      compared++
      const found = await difference(one, timezone, from, to)
      if (found) differences.push(found)
    }
  }
  return { compared, differences }
}
