import { BadSchedule } from './schedule-errors.ts'
import type { CronDates, Times } from './schedule-plan.ts'

/** Whether a text looks like a cron line. */
export const looksLikeCron = (text: string) => /^\s*@[a-z]|\*|^\s*(?:(?:[\d?,/#LW+-]|\b[a-z]{3}\b)+(?:\s+|\s*$)){5,6}$/i.test(text)

/** Parses a cron line into the parts of a plan, with croner, which is imported on demand. Throws BadSchedule (400). */
export async function readCron (line: string): Promise<{ dates: CronDates, times: Times, repeats: boolean }> {
  const { CronPattern } = await import('croner')
  let pattern: InstanceType<typeof CronPattern>
  try {
    pattern = new CronPattern(line.trim(), 'UTC', { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    const fields = line.trim().split(/\s+/)
    const cause = fields[0].startsWith('@')
      ? `"${fields[0]}" is not known`
      : fields.length === 5 || fields.length === 6
        ? (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '')
        : `it has ${fields.length} fields`
    throw new BadSchedule(
      'interval',
      `schedule.interval ${JSON.stringify(line)} is not a cron line: ${cause}. ` +
        'Write five fields (minute hour day month weekday), or six with seconds first, such as "0 9 * * 1-5", ' +
        'or one of @hourly, @daily, @weekly, @monthly and @yearly.'
    )
  }
  const dates: CronDates = {
    unit: 'cron',
    months: set(pattern.month, 1),
    days: set(pattern.day, 1),
    last: pattern.lastDayOfMonth,
    lastWorking: pattern.lastWeekday,
    nearest: set(pattern.nearestWeekdays, 1),
    weekdays: pattern.dayOfWeek,
    both: pattern.useAndLogic || pattern.starDOM || pattern.starDOW
  }
  return {
    dates,
    times: { hours: set(pattern.hour), minutes: set(pattern.minute), seconds: set(pattern.second) },
    repeats: !pattern.isFixedTime
  }
}

const set = (flags: number[], first = 0) => flags.flatMap((flag, i) => flag ? [i + first] : [])
