import { slotsBetween } from './calendar.ts'
import { DAY, dayOfMonth, daysIn, mod, monthOf, weekdayOf } from './days.ts'
import { upcoming } from './due.ts'
import { isOnce, type Plan } from './schedule-plan.ts'
import { readTimeWords, type RhythmDemand, type TimeWords } from './time-words.ts'
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
  morning: (hour) => hour < 12,
  afternoon: (hour) => hour >= 12 && hour <= 18,
  evening: (hour) => hour >= 16,
  lunch: (hour) => hour >= 11 && hour <= 14.5,
  night: (hour) => hour >= 18 || hour <= 6
}
/** A morning without an hour does not begin before this hour. */
const FIRST_HOUR = 3

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
}

/**
 * Returns the words of a person that a schedule contradicts: its weekdays, dates, parts of the day, hours, rhythm, or whether it runs
 * once or again and again. Undefined where all of it can be meant. Only English is understood; what words leave open is free.
 */
export function findContradiction (words: string, plan: Plan, machine: Machine): string | undefined {
  if (words.length > LONGEST_WORDS) return undefined
  // A zone that stands for none is what models write without thinking.
  const isPlain = plan.kind !== 'calendar' || (/^(?:etc\/)?(?:utc|gmt|zulu)/i.test(plan.timezone) && !/\b(?:utc|gmt|zulu)\b/i.test(words))
  const zone = isPlain ? machine.timezone : plan.timezone
  const today = Math.floor(localTime(zone, machine.now) / DAY)
  const planned = timesOf(plan, zone, machine.now)
  if (planned.moments.length === 0) return undefined
  let wrong: string | undefined
  for (const each of meaningsOf(words, today)) {
    const meant = readTimeWords(each, today)
    const found = wrongKind(meant, planned) ?? wrongDay(meant, planned, machine.now) ?? wrongHour(meant, planned) ??
      wrongRhythm(meant, planned)
    if (found === undefined) return undefined
    wrong ??= found
  }
  return wrong
}

/** Words behind which the matter follows: "remind me at 8 that the meeting is at 3". */
const MATTER = /\s(?:that|about (?:the|my|our|his|her|their))\s/i

/**
 * Returns what a text may say of the times of one task: all of it, or one of the sentences that each say once or again and again, with
 * those that add only an hour or a day.
 */
function meaningsOf (words: string, today: number): string[] {
  const sentences = words.split(/(?<=[.!?])\s+|\n+/).map((sentence) => {
    const head = sentence.split(MATTER, 1)[0]
    return saysTime(readTimeWords(head, today)) ? head : sentence
  })
  const isWhole = (text: string) => {
    const { once, repeated } = readTimeWords(text, today)
    return once.length + repeated.length > 0
  }
  const whole = sentences.filter(isWhole)
  if (whole.length < 2) return [sentences.join('\n')]
  const others = sentences.filter((each) => !whole.includes(each))
  return whole.map((each) => [each, ...others].join('\n'))
}

const saysTime = (meant: TimeWords): boolean => Object.values(meant).some((list) => list.length > 0)

function timesOf (plan: Plan, zone: string, now: number): PlannedTimes {
  const near = slotsBetween(plan, now, now + SPAN_MS, MOST)
  const moments = near.length < LEAST ? upcoming(plan, now, LEAST) : near
  const local = moments.map((at) => localTime(zone, at))
  return {
    isSingle: isOnce(plan) || plan.maxRuns === 1,
    moments,
    days: local.map((at) => Math.floor(at / DAY)),
    seconds: local.map((at) => Math.floor(at % DAY / 1_000))
  }
}

/** Once, or again and again. Words that say both are free. */
function wrongKind ({ once, repeated }: TimeWords, { isSingle }: PlannedTimes): string | undefined {
  if (isSingle) return once.length === 0 ? repeated[0] : undefined
  return repeated.length === 0 ? once[0] : undefined
}

function wrongDay (meant: TimeWords, planned: PlannedTimes, now: number): string | undefined {
  const { weekdays, except, days, waits, daysOfMonth, months, rhythms } = meant
  const [first] = planned.moments
  const isMonth = (day: number) => months.some(({ month }) => mod(monthOf(day), 12) === month)
  if (months.length > 0 && days.length === 0 && !planned.days.every(isMonth)) return months[0].words
  if (planned.isSingle) {
    const isSoon = waits.some(({ ms }) => Math.abs(first - now - ms) <= Math.max(ms * WAIT_SHARE, WAIT_MS))
    if (waits.length > 0 && days.length === 0 && !isSoon) return waits[0].words
    // What is done tonight may be done after midnight, and midnight is the end of a day, too.
    const isNight = (words: string) => planned.seconds[0] < (words === 'tonight' ? 6 * 3_600 : 60)
    const isDay = days.some((each) => each.days.includes(planned.days[0]) ||
      (isNight(each.words) && each.days.includes(planned.days[0] - 1)))
    if (days.length > 0 && waits.length === 0) return isDay ? undefined : days[0].words
    if (waits.length > 0) return undefined
  }
  const onDays = new Set(planned.days.map(weekdayOf))
  const named = new Set(weekdays.flatMap((each) => each.days))
  if (except.some((day) => onDays.has(day)) || (named.size > 0 && [...onDays].some((day) => !named.has(day)))) {
    return weekdays[0]?.words ?? 'except'
  }
  const [whole] = weekdays
  const lacks = weekdays.length === 1 && whole.isWhole && whole.days.some((day) => !onDays.has(day) && !except.includes(day))
  if (lacks && !planned.isSingle) return whole.words
  const isMonthly = rhythms.length === 0 || rhythms.some(({ unit }) => unit === 'month' || unit === 'year')
  const ofMonth = daysOfMonth.flatMap((each) => each.days)
  if (!isMonthly || ofMonth.length === 0) return undefined
  // The 31st is the last day of a shorter month.
  const isNamed = (day: number) => ofMonth.some((each) => dayOfMonth(day) === Math.min(each, daysIn(monthOf(day))))
  return planned.days.every(isNamed) ? undefined : daysOfMonth[0].words
}

function wrongHour (meant: TimeWords, { seconds, isSingle }: PlannedTimes): string | undefined {
  const { windows, parts, waits, rhythms } = meant
  // Without a part of the day, "at 9" is read as a schedule is; "at 8" meant at ten o'clock may be this evening.
  const isBare = parts.length === 0 && !isSingle
  const times = meant.times.map((each) => ({ ...each, times: isBare ? each.times.map(asSchedule) : each.times }))
  const hasShortRhythm = waits.length > 0 || rhythms.some(({ unit }) => unit === 'minute' || unit === 'hour')
  const outside = windows.find(({ from, to }) => seconds.some((second) => second < from * 3_600 || second > (to + 1) * 3_600))
  if (outside !== undefined && times.length === 0) return outside.words
  if (hasShortRhythm) return undefined
  const isAt = (second: number, ofDay: number[], tolerance: number) =>
    ofDay.some((each) => Math.min(Math.abs(each - second), 86_400 - Math.abs(each - second)) <= tolerance + 60)
  const isTime = (second: number) => times.some((each) => each.times.some((ofDay) => isAt(second, ofDay, each.tolerance)))
  if (times.length > 0 && windows.length === 0 && !seconds.every(isTime)) return times[0].words
  if (times.length === 1 && times[0].times.some((ofDay) => !seconds.some((second) => isAt(second, ofDay, times[0].tolerance)))) {
    return times[0].words
  }
  const named = parts.flatMap((each) => each.parts)
  const isExact = times.length > 0 && times.every((each) => each.times.every((ofDay) => ofDay.length === 1))
  if (named.length === 0 || isExact) return undefined
  const isIn = (second: number, part: string) =>
    PART_HOURS[part](second / 3_600) && (part !== 'morning' || times.length > 0 || second >= FIRST_HOUR * 3_600)
  const isMeant = seconds.every((second) => named.some((part) => isIn(second, part)))
  const isWhole = parts.length > 1 || named.length === 1 || parts[0].words === 'tonight' ||
    named.every((part) => seconds.some((second) => isIn(second, part)))
  return isMeant && isWhole ? undefined : parts[0].words
}

/** The seconds that a bare hour means in a schedule: from 7 to 12 as it stands. */
function asSchedule (seconds: number[]): number[] {
  const found = seconds.filter((second) => second >= 7 * 3_600 && second < 13 * 3_600)
  return seconds.length === 2 && found.length === 1 ? found : seconds
}

function wrongRhythm (meant: TimeWords, planned: PlannedTimes): string | undefined {
  const { rhythms } = meant
  if (planned.isSingle || rhythms.length === 0) return undefined
  return rhythms.some((rhythm) => isRhythm(rhythm, meant, planned)) ? undefined : rhythms[0].words
}

/** Whether times come as often as that. */
function isRhythm ({ unit, every, count }: RhythmDemand, meant: TimeWords, { moments, days }: PlannedTimes): boolean {
  const dates = [...new Set(days)]
  const perDay = days.filter((day) => day === dates[1]).length
  const isFree = meant.weekdays.length > 0 || meant.except.length > 0
  switch (unit) {
    case 'minute':
    case 'hour': {
      const period = every / (count ?? 1) * (unit === 'hour' ? 3_600_000 : 60_000)
      const gaps = gapsOf(moments).toSorted((a, b) => a - b)
      const isEven = isFree || meant.windows.length + meant.parts.length > 0 || isNear(gaps[gaps.length >> 1], period)
      return isNear(gaps[0], period) && isEven
    }
    case 'day': {
      const most = count ?? Math.max(1, meant.times.flatMap((each) => each.times).length, meant.parts.flatMap((each) => each.parts).length)
      const isOften = meant.windows.length === 0 && (count === undefined ? perDay > most : perDay !== most)
      return !isOften && (isFree || gapsOf(dates).every((gap) => gap === every))
    }
    case 'week': {
      const byWeekday = Object.values(Object.groupBy(dates, (day) => weekdayOf(day)))
      const isEven = byWeekday.every((same) => gapsOf(same!).every((gap) => gap === every * 7))
      return isEven && (isFree ? byWeekday.length >= (count ?? 1) : byWeekday.length === (count ?? 1))
    }
    case 'month':
    case 'year': {
      const months = dates.map((day) => Math.floor(monthOf(day) / (unit === 'year' ? 12 : 1)))
      const most = count ?? Math.max(1, meant.daysOfMonth.flatMap((each) => each.days).length)
      return gapsOf([...new Set(months)]).every((gap) => gap === every) &&
        Object.values(Object.groupBy(months, (month) => month)).every((same) => same!.length <= most)
    }
  }
}

const gapsOf = (list: number[]): number[] => list.slice(1).map((each, at) => each - list[at])
/** Equal but for what the clock loses, and for changes of the clocks. */
const isNear = (a: number | undefined, b: number) =>
  a !== undefined && Math.abs(a - b) <= Math.max(1_000, b * 0.02, b >= 12 * 3_600_000 ? 3_600_000 : 0)
