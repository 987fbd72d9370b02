import { slotsBetween } from './calendar.ts'
import { secondsOf } from './clock-words.ts'
import { weekdaysOf } from './day-words.ts'
import { DAY, dayOfMonth, daysIn, mod, monthOf, weekdayOf } from './days.ts'
import { upcoming } from './due.ts'
import { readProse } from './prose-times.ts'
import { isOnce, type Plan } from './schedule-plan.ts'
import type { TimeWords } from './time-words.ts'
import { localTime } from './zone.ts'

/** Longer texts are about much else; characters. */
const LONGEST_WORDS = 4_000
/** The planned times that are compared: those of ten weeks, at most this many, and of rare ones this many at least. */
const SPAN_MS = 70 * DAY
const MOST = 400
const LEAST = 6
/** How far a time "in two hours" may be from that, in its share, and at least; milliseconds. */
const WAIT_SHARE = 0.1
const WAIT_MS = 3 * 60_000
/** Hours of the day that a part of it can mean, wider than those at which something is planned without an hour. */
const PART_HOURS: Record<string, (hour: number) => boolean> = {
  morning: (hour) => hour >= 3 && hour < 12,
  afternoon: (hour) => hour >= 12 && hour <= 18,
  evening: (hour) => hour >= 16,
  lunch: (hour) => hour >= 11 && hour <= 14.5,
  night: (hour) => hour >= 18 || hour <= 6,
  tonight: (hour) => hour >= 16 || hour <= 6
}
/** Words behind which the matter follows: "remind me at 8 that the meeting is at 3". */
const MATTER = /\s(?:that|about (?:the|my|our|his|her|their))\s/i

interface Machine {
  /** The machine's time zone, and the time now. */
  timezone: string
  now: number
}

/** The planned times of a schedule: moments, and in local time the days (from 1970-01-01) and the seconds of the day. */
interface PlannedTimes {
  isSingle: boolean
  moments: number[]
  days: number[]
  seconds: number[]
  now: number
}

/**
 * Returns the words of a person that a schedule contradicts: its weekdays, dates, parts of the day, hours, rhythm, or whether it runs
 * once or again and again. Undefined where all of it can be meant. Only English is understood; what words leave open is free.
 */
export function findContradiction (words: string, plan: Plan, { timezone, now }: Machine): string | undefined {
  if (words.length > LONGEST_WORDS) return undefined
  // A zone that stands for none is what models write without thinking.
  const isPlain = plan.kind !== 'calendar' || (/^(?:etc\/)?(?:utc|gmt|zulu)/i.test(plan.timezone) && !/\b(?:utc|gmt|zulu)\b/i.test(words))
  const zone = isPlain ? timezone : plan.timezone
  const near = slotsBetween(plan, now, now + SPAN_MS, MOST)
  const moments = near.length < LEAST ? upcoming(plan, now, LEAST) : near
  if (moments.length === 0) return undefined
  const local = moments.map((at) => localTime(zone, at))
  const planned: PlannedTimes = {
    isSingle: isOnce(plan) || plan.maxRuns === 1,
    moments,
    days: local.map((at) => Math.floor(at / DAY)),
    seconds: local.map((at) => Math.floor(at % DAY / 1_000)),
    now
  }
  const wrong = meaningsOf(words, Math.floor(localTime(zone, now) / DAY)).map((meant) => wrongWords(meant, planned))
  return wrong.includes(undefined) ? undefined : wrong[0]
}

const wrongWords = (meant: TimeWords, planned: PlannedTimes): string | undefined =>
  wrongKind(meant, planned) ?? wrongDay(meant, planned) ?? wrongHour(meant, planned) ?? wrongRhythm(meant, planned)

/**
 * Reads what a text may say of the times of one task: all of it, or one of the sentences that each say once or again and again, with
 * those that add only an hour or a day.
 */
function meaningsOf (words: string, today: number): TimeWords[] {
  const sentences = words.split(/(?<=[.!?])\s+|\n+/).map((sentence) => {
    const [head] = sentence.split(MATTER, 1)
    const { rest, ...lists } = readProse(head, today)
    return head !== sentence && Object.values(lists).some((list) => list.length > 0) ? head : sentence
  })
  const whole = sentences.filter((text) => {
    const { once, repeated } = readProse(text, today)
    return once.length + repeated.length > 0
  })
  const others = sentences.filter((each) => !whole.includes(each))
  return (whole.length < 2 ? [sentences] : whole.map((each) => [each, ...others])).map((texts) => readProse(texts.join('\n'), today))
}

/** Once, or again and again. Words that say both are free. */
function wrongKind ({ once, repeated }: TimeWords, { isSingle }: PlannedTimes): string | undefined {
  if (isSingle) return once.length === 0 ? repeated[0] : undefined
  return repeated.length === 0 ? once[0] : undefined
}

function wrongDay (meant: TimeWords, planned: PlannedTimes): string | undefined {
  const { moments: [first], seconds: [second], days: plannedDays, isSingle, now } = planned
  const { days, waits, months, rhythms } = meant
  const weekdaysIn = (bits: number[]) => bits.flatMap((each, at) => each === 0 ? [] : [(at + 6) % 7])
  const ofMonths = meant.nths.map(({ words, dates }) => ({ words, isWhole: false, days: weekdaysIn(dates.weekdays) }))
  const weekdays = [...meant.weekdays, ...ofMonths]
  const isMonth = (day: number) => months.some(({ month }) => mod(monthOf(day), 12) === month)
  if (months.length > 0 && days.length === 0 && !plannedDays.every(isMonth)) return months[0].words
  if (isSingle) {
    const exact = waits.flatMap(({ period }) => period.unit === 'exact' ? [period.everyMs] : [])
    const isSoon = exact.some((ms) => Math.abs(first - now - ms) <= Math.max(ms * WAIT_SHARE, WAIT_MS))
    if (exact.length > 0 && days.length === 0 && !isSoon) return waits[0].words
    if (exact.length > 0) return undefined
    // What is done tonight may be done after midnight, and midnight is the end of a day, too.
    const isDay = days.some(({ words, days: [day, ...later] }) =>
      day === plannedDays[0] || (day === plannedDays[0] - 1 && second < (words === 'tonight' ? 6 * 3_600 : 60)) ||
      (words !== 'tonight' && later.includes(plannedDays[0])))
    if (days.length > 0) return isDay ? undefined : days[0].words
  }
  const onDays = new Set(plannedDays.map(weekdayOf))
  const except = meant.except.flatMap((list) => list.split(/,? and |, /)).flatMap((item) => weekdaysOf(item.replace(/^on /, '')) ?? [])
  const named = new Set(weekdays.flatMap((each) => each.days))
  if (except.some((day) => onDays.has(day)) || (named.size > 0 && [...onDays].some((day) => !named.has(day)))) {
    return weekdays[0]?.words ?? 'except'
  }
  const [whole] = weekdays
  const lacks = weekdays.length === 1 && whole.isWhole && whole.days.some((day) => !onDays.has(day) && !except.includes(day))
  if (lacks && !isSingle) return whole.words
  const isMonthly = rhythms.length === 0 || rhythms.some(({ period }) => period?.unit === 'month' || period?.unit === 'year')
  const dates = days.flatMap(({ words, date }) => date === undefined ? [] : [{ words, days: [date.day] }])
  const ofMonth = [...meant.daysOfMonth, ...dates]
  if (!isMonthly || ofMonth.length === 0) return undefined
  // The 31st is the last day of a shorter month.
  const isNamed = (day: number) => ofMonth.some((each) => each.days.some((of) => dayOfMonth(day) === Math.min(of, daysIn(monthOf(day)))))
  return plannedDays.every(isNamed) ? undefined : ofMonth[0].words
}

function wrongHour (meant: TimeWords, { seconds, isSingle }: PlannedTimes): string | undefined {
  const { windows, waits, rhythms } = meant
  const parts = meant.parts.map(({ words, parts: named }) => ({ words, parts: words === 'tonight' ? ['tonight'] : named }))
  // Without a part of the day, "at 9" is read as a schedule is; "at 8" meant at ten o'clock may be this evening.
  const isBare = parts.length === 0 && !isSingle
  const times = meant.times.map(({ words, clocks, tolerance }) => ({
    words,
    tolerance: tolerance + 60,
    times: clocks.map((clock) => isBare && clock.second >= 7 * 3_600 ? [clock.second] : secondsOf(clock))
  }))
  const isShort = ({ period }: { period?: { unit: string } }) => period?.unit === 'exact' || period?.unit === 'hour'
  const outside = windows.find(({ from, to }) => seconds.some((second) => second < from * 3_600 || second > (to + 1) * 3_600))
  if (outside !== undefined && times.length === 0) return outside.words
  if (waits.some(isShort) || rhythms.some(isShort)) return undefined
  const isAt = (second: number, ofDay: number[], tolerance: number) =>
    ofDay.some((each) => Math.min(Math.abs(each - second), 86_400 - Math.abs(each - second)) <= tolerance)
  const isTime = (second: number) => times.some((each) => each.times.some((ofDay) => isAt(second, ofDay, each.tolerance)))
  if (times.length > 0 && windows.length === 0 && !seconds.every(isTime)) return times[0].words
  const [only] = times
  const lacks = times.length === 1 && only.times.some((ofDay) => !seconds.some((second) => isAt(second, ofDay, only.tolerance)))
  if (lacks) return only.words
  const named = parts.flatMap((each) => each.parts)
  const isExact = times.length > 0 && times.every((each) => each.times.every((ofDay) => ofDay.length === 1))
  if (named.length === 0 || isExact) return undefined
  const isEarly = (second: number, part: string) => part === 'morning' && times.length > 0 && second < 43_200
  const isIn = (second: number, part: string) => PART_HOURS[part](second / 3_600) || isEarly(second, part)
  const isMeant = seconds.every((second) => named.some((part) => isIn(second, part)))
  const isWhole = parts.length > 1 || named.every((part) => seconds.some((second) => isIn(second, part)))
  return isMeant && isWhole ? undefined : parts[0].words
}

function wrongRhythm (meant: TimeWords, planned: PlannedTimes): string | undefined {
  const ofWeekdays = meant.weekdays.filter(({ words, isEvery }) => isEvery && !/week|work|business/.test(words))
    .map(({ words }) => ({ words, period: { unit: 'week', every: 1 } as const, isWord: true }))
  const ofMonths = meant.nths.map(({ words }) => ({ words, period: { unit: 'month', every: 1 } as const, isWord: true }))
  const rhythms = [...meant.rhythms, ...ofMonths, ...meant.rhythms.length === 0 ? ofWeekdays : []]
  if (planned.isSingle || rhythms.length === 0) return undefined
  return rhythms.some((rhythm) => isRhythm(rhythm, meant, planned)) ? undefined : rhythms[0].words
}

/** Whether times come as often as that. */
function isRhythm ({ period, count }: TimeWords['rhythms'][number], meant: TimeWords, { moments, days }: PlannedTimes): boolean {
  const dates = [...new Set(days)]
  const isFree = meant.weekdays.length > 0 || meant.except.length > 0
  const length = (lists: Array<{ texts?: string[], parts?: string[], days?: number[] }>) =>
    lists.reduce((sum, { texts, parts, days: each }) => sum + (texts ?? parts ?? each ?? []).length, 0)
  if (period === undefined) return true
  if (period.unit === 'exact' || period.unit === 'hour') {
    const each = (period.unit === 'hour' ? 3_600_000 : period.everyMs) / (count ?? 1)
    const gaps = gapsOf(moments).toSorted((a, b) => a - b)
    return isNear(gaps[0], each) && (isFree || meant.windows.length + meant.parts.length > 0 || isNear(gaps[gaps.length >> 1], each))
  }
  if (period.unit === 'day') {
    const perDay = days.filter((day) => day === dates[1]).length
    const isOften = count === undefined ? perDay > Math.max(1, length(meant.times), length(meant.parts)) : perDay !== count
    return !(isOften && meant.windows.length === 0) && (isFree || gapsOf(dates).every((gap) => gap === period.every))
  }
  if (period.unit === 'week') {
    const byWeekday = Object.values(Object.groupBy(dates, (day) => weekdayOf(day)))
    const isEven = byWeekday.every((same) => gapsOf(same!).every((gap) => gap === period.every * 7))
    return isEven && (isFree ? byWeekday.length >= (count ?? 1) : byWeekday.length === (count ?? 1))
  }
  const months = dates.map((day) => Math.floor(monthOf(day) / (period.unit === 'year' ? 12 : 1)))
  const most = count ?? Math.max(1, length(meant.daysOfMonth))
  return gapsOf([...new Set(months)]).every((gap) => gap === (period.unit === 'year' ? 1 : period.every)) &&
    Object.values(Object.groupBy(months, (month) => month)).every((same) => same!.length <= most)
}

const gapsOf = (list: number[]): number[] => list.slice(1).map((each, at) => each - list[at])
/** Equal but for what the clock loses, and for changes of the clocks. */
const isNear = (a: number | undefined, b: number) =>
  a !== undefined && Math.abs(a - b) <= Math.max(1_000, b * 0.02, b >= 12 * 3_600_000 ? 3_600_000 : 0)
