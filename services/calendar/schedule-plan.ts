/** The time zone of the computer, or the zone used instead, and the present time in milliseconds since the Unix epoch. */
export interface Machine {
  timezone: string
  now: number
}

/** Times of day, in seconds of the day. Lists are ascending. */
export type Times =
  /** Every combination of these hours, minutes and seconds. */
  | { hours: number[], minutes: number[], seconds: number[] }
  /** These seconds of the day. */
  | { at: number[] }
  /** Every `every` seconds, from one second of the day up to another, both included. */
  | { from: number, to: number, every: number }

/**
 * The dates of a plan: every `every` units, counted from `from`. Days are counted from 1970-01-01, months from
 * January of the year 0; weekdays from Monday = 0.
 */
export type Dates =
  | { unit: 'day', every: number, from: number }
  /** `from` is the Monday of the first week that counts. */
  | { unit: 'week', every: number, from: number, weekdays: number[] }
  /** In a month that is too short for one of the days, its last day counts instead. */
  | { unit: 'month', every: number, from: number, days: number[] }
  /** A single date, counted from 1970-01-01. */
  | { unit: 'date', day: number }
  | CronDates

/** The date fields of a cron line, as croner parses them. */
export interface CronDates {
  unit: 'cron'
  /** Months from 1 to 12. */
  months: number[]
  days: number[]
  /**
   * Additional days of the month: `last` is its last day (`L`), `lastWorking` its last working day (`LW`),
   * `nearest` the days whose nearest working day counts (`15W`).
   */
  last: boolean
  lastWorking: boolean
  nearest: number[]
  /**
   * One bit set for each weekday, from Sunday as in cron. Bits 0 to 4 mean the first to fifth such weekday of the
   * month, bit 5 the last one; 63 means every one.
   */
  weekdays: number[]
  /**
   * Whether a day must match both the day field and the weekday field. Otherwise one match suffices, as in cron if neither field is `*`.
   */
  both: boolean
}

/**
 * Dates that are left out. `weekdays`: from Monday = 0. `days`: single days, counted from 1970-01-01. `yearly`:
 * dates of every year, as month * 100 + day.
 */
export interface Exceptions {
  weekdays: number[]
  days: number[]
  yearly: number[]
}

interface Common {
  /** The first planned time is after this time; milliseconds since the Unix epoch. */
  since: number
  /** No planned time is before this time; milliseconds since the Unix epoch. */
  startAt?: number
  maxRuns?: number
  missed: 'run_once' | 'skip'
  /** How late a planned time can still run, in milliseconds, if the schedule sets it; see `graceOf`. */
  graceMs?: number
}

/** A plan with times that are `anchor` plus multiples of a duration, exact to the millisecond. */
export interface ExactPlan extends Common {
  kind: 'exact'
  everyMs: number
  anchor: number
}

/** A plan with a single time. */
export interface MomentPlan extends Common {
  kind: 'moment'
  at: number
}

/** A plan with local times on local dates. */
export interface CalendarPlan extends Common {
  kind: 'calendar'
  timezone: string
  /** Whether the plan follows the time zone of the computer, because the schedule names none. */
  follows: boolean
  dates: Dates
  except?: Exceptions
  times: Times
  /**
   * The behaviour at clock changes. False: every local time occurs once. In a repeated hour, that is its first occurrence; in a skipped
   * hour, it is the first moment after the hour. True, for times every hour or more often: a time occurs whenever the clock shows it.
   */
  repeats: boolean
}

/** A parsed schedule in the form in which it is stored (plain JSON) and computed with; created by `parseSchedule`. */
export type Plan = ExactPlan | MomentPlan | CalendarPlan

/** Whether a plan has a single time. */
export const isOnce = (plan: Plan): boolean => plan.kind === 'moment' || (plan.kind === 'calendar' && plan.dates.unit === 'date')

/**
 * Returns the plan in the current time zone of the computer. A plan without a time zone of its own keeps its local
 * times in the new zone; any other plan is returned unchanged. Call it on stored plans before computing times.
 */
export function inMachineZone (plan: Plan, timezone: string): Plan {
  return plan.kind === 'calendar' && plan.follows && plan.timezone !== timezone ? { ...plan, timezone } : plan
}
