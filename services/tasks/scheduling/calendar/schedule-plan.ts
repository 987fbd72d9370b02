/** Hours, minutes and seconds that go together in every combination, each ascending. */
export interface Times {
  hours: number[]
  minutes: number[]
  seconds: number[]
}

/** Which dates. Days are counted from 1970-01-01, months from January of the year 0; weekdays from Monday, 0. */
export type Dates =
  | { unit: 'day', every: number, from: number }
  /** `from` is the Monday of a week that counts. */
  | { unit: 'week', every: number, from: number, weekdays: number[] }
  /** A month without that day takes its last one. */
  | { unit: 'month', every: number, from: number, day: number }
  | CronDates

/** The date fields of a cron line, as croner reads them. */
export interface CronDates {
  unit: 'cron'
  /** 1 to 12. */
  months: number[]
  days: number[]
  /** Also the last day of the month (`L`), its last working day (`LW`), the working day nearest to these days (`15W`). */
  last: boolean
  lastWorking: boolean
  nearest: number[]
  /** By weekday, from Sunday as in cron: bits 0 to 4 for the first to the fifth of its month, bit 5 for the last; 63 for every. */
  weekdays: number[]
  /** Whether a day needs both fields or, as in cron when neither is `*`, either. */
  both: boolean
}

interface Common {
  /** Planned times are after this when none has passed yet. */
  since: number
  /** No planned time is before this. */
  startAt?: number
  maxRuns?: number
  missed: 'run_once' | 'skip'
  graceMs: number
}

/** Multiples of a duration, exact to the millisecond, from an anchor. */
export interface ExactPlan extends Common {
  kind: 'exact'
  everyMs: number
  anchor: number
}

/** Local times on local dates. */
export interface CalendarPlan extends Common {
  kind: 'calendar'
  timezone: string
  /** Whether the zone was not given, so that it follows the machine's. */
  follows: boolean
  dates: Dates
  times: Times
  /**
   * What happens when the clocks change. False: every local time comes once; in an hour that comes twice it is the first,
   * in one that is left out the first moment after. True, for what comes every hour or more often: whenever the clock shows it.
   */
  repeats: boolean
}

/** A schedule as it is stored (plain JSON) and calculated with. Made by `parseSchedule`. */
export type Plan = ExactPlan | CalendarPlan

/**
 * The plan where the machine is now. A plan without a time zone of its own keeps its local times and follows; any other
 * comes back as it is. To be called on stored plans at start, before they are asked for times.
 */
export function inMachineZone (plan: Plan, timezone: string): Plan {
  return plan.kind === 'calendar' && plan.follows && plan.timezone !== timezone ? { ...plan, timezone } : plan
}
