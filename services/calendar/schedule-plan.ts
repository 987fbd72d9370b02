/** The machine's time zone, or the one that stands for it, and the time now. */
export interface Machine {
  timezone: string
  now: number
}

/** Times of day, in seconds. Lists are ascending. */
export type Times =
  /** Every combination of these hours, minutes and seconds. */
  | { hours: number[], minutes: number[], seconds: number[] }
  /** These seconds of the day. */
  | { at: number[] }
  /** Every so many seconds from one second of the day up to another, both included. */
  | { from: number, to: number, every: number }

/** The dates of a plan. Days are counted from 1970-01-01, months from January of the year 0; weekdays from Monday, 0. */
export type Dates =
  | { unit: 'day', every: number, from: number }
  /** `from` is the Monday of a week that counts. */
  | { unit: 'week', every: number, from: number, weekdays: number[] }
  /** In a month without one of the days, the last day of the month counts in its place. */
  | { unit: 'month', every: number, from: number, days: number[] }
  /** One date. */
  | { unit: 'date', day: number }
  | CronDates

/** The date fields of a cron line, as croner reads them. */
export interface CronDates {
  unit: 'cron'
  /** 1 to 12. */
  months: number[]
  days: number[]
  /** Additional days: the last day of the month (`L`), its last working day (`LW`), the working days nearest to given days (`15W`). */
  last: boolean
  lastWorking: boolean
  nearest: number[]
  /** By weekday, from Sunday as in cron: bits 0 to 4 for the first to the fifth of its month, bit 5 for the last; 63 for every. */
  weekdays: number[]
  /** Whether a day must match both the day and the weekday field. Otherwise one suffices, as in cron when neither is `*`. */
  both: boolean
}

/** Dates that are left out: weekdays from Monday, 0; single days, counted from 1970-01-01; dates of each year, month * 100 + day. */
export interface Exceptions {
  weekdays: number[]
  days: number[]
  yearly: number[]
}

interface Common {
  /** The first planned time is after this. */
  since: number
  /** No planned time is before this. */
  startAt?: number
  maxRuns?: number
  missed: 'run_once' | 'skip'
  /** How late a time may be made up for, if the schedule says so; see `graceOf`. */
  graceMs?: number
}

/** Multiples of a duration, exact to the millisecond, from an anchor. */
export interface ExactPlan extends Common {
  kind: 'exact'
  everyMs: number
  anchor: number
}

/** One moment. */
export interface MomentPlan extends Common {
  kind: 'moment'
  at: number
}

/** Local times on local dates. */
export interface CalendarPlan extends Common {
  kind: 'calendar'
  timezone: string
  /** Whether the schedule names no time zone, so that the plan follows the machine's. */
  follows: boolean
  dates: Dates
  except?: Exceptions
  times: Times
  /**
   * The behaviour at clock changes. False: every local time occurs once; in a repeated hour it is the first occurrence, in
   * a skipped hour the first moment after it. True, for times every hour or more often: whenever the clock shows the time.
   */
  repeats: boolean
}

/** A schedule as it is stored (plain JSON) and calculated with. Made by `parseSchedule`. */
export type Plan = ExactPlan | MomentPlan | CalendarPlan

/** Whether a plan has a single time. */
export const isOnce = (plan: Plan): boolean => plan.kind === 'moment' || (plan.kind === 'calendar' && plan.dates.unit === 'date')

/**
 * The plan in the machine's current time zone. A plan without its own time zone keeps its local times in the new zone; other
 * plans are returned unchanged. Call it on stored plans before computing times.
 */
export function inMachineZone (plan: Plan, timezone: string): Plan {
  return plan.kind === 'calendar' && plan.follows && plan.timezone !== timezone ? { ...plan, timezone } : plan
}
