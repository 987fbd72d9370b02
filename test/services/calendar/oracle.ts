import { Temporal } from '@js-temporal/polyfill'
import { Cron, CronPattern } from 'croner'

/** When wall-clock times come, told by Temporal and croner, which know nothing of our arithmetic. */

export const ms = (instant: { epochMilliseconds: number }) => instant.epochMilliseconds

/** The first moment of a local time: the first of two, or the first after the gap it lies in. */
export function moment (date: Temporal.PlainDate, time: string, timezone: string): number {
  const plain = date.toPlainDateTime(time)
  const zoned = plain.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  return ms(zoned.toPlainDateTime().equals(plain) ? zoned : zoned.getTimeZoneTransition('next')!)
}

/** Every moment from `from` until before `to` at which one of the times comes on a date that counts. */
export function moments (on: (date: Temporal.PlainDate) => boolean, times: string[], timezone: string, from: number, to: number): number[] {
  const found = new Set<number>()
  const last = dateAt(to, timezone).add({ days: 2 })
  for (let date = dateAt(from, timezone).subtract({ days: 2 }); Temporal.PlainDate.compare(date, last) <= 0; date = date.add({ days: 1 })) {
    if (on(date)) { for (const time of times) found.add(moment(date, time, timezone)) }
  }
  return [...found].filter((at) => at >= from && at < to).sort((a, b) => a - b)
}

export function cronMoments (line: string, timezone: string, from: number, to: number): number[] {
  const cron = new Cron(line, { timezone, fixedTimeRule: 'no-wildcard' })
  const found = new Set<number>()
  for (let at = cron.nextRun(new Date(from - 1_000)); at !== null && at.getTime() < to; at = cron.nextRun(at)) found.add(at.getTime())
  if (new CronPattern(line, 'UTC', { fixedTimeRule: 'no-wildcard' }).isFixedTime) {
    for (const change of changes(timezone, from - 1, to)) if (dropped(line, timezone, change)) found.add(change)
  }
  // It counts in whole seconds.
  return [...found].filter((at) => at >= from).sort((a, b) => a - b)
}

/** Whether croner drops a time that a change of the clocks left out, since the first moment after is on another date; we make up for it. */
function dropped (line: string, timezone: string, change: number) {
  const local = (time: number) =>
    ms(Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).toPlainDateTime().toZonedDateTime('UTC'))
  const [gap, after] = [local(change - 1_000), local(change)]
  if (new Date(gap).getUTCDate() === new Date(after).getUTCDate()) return false
  const left = new Cron(line, { timezone: 'UTC' }).nextRun(new Date(gap))
  return left !== null && left.getTime() < after
}

/** When the clocks of a zone are changed. */
export function changes (timezone: string, from: number, to: number): number[] {
  const found: number[] = []
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone)
  for (;;) {
    at = at.getTimeZoneTransition('next')
    if (at === null || ms(at) >= to) return found
    found.push(ms(at))
  }
}

export const dateAt = (time: number, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone).toPlainDate()
