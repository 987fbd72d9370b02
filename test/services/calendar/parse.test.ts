import t from 'tap'
import fc from 'fast-check'
import type { Schedule } from '../../../schemas/schedule.ts'
import { upcoming } from '../../../services/calendar/due.ts'
import { BadSchedule } from '../../../services/calendar/schedule-errors.ts'
import { parseSchedule } from '../../../services/calendar/parse-schedule.ts'

/** A Saturday, 13:34:56.789 in Berlin. */
const NOW = Date.UTC(2026, 10, 21, 12, 34, 56, 789)
const parse = (schedule: Schedule) => parseSchedule(schedule, { timezone: 'Europe/Berlin', now: NOW })
const times = async (schedule: Schedule, n = 2) =>
  upcoming(await parse(schedule), NOW, n).map((at) => new Date(at).toLocaleString('sv', { timeZone: 'Europe/Berlin' }))

const READ: [Schedule, ...string[]][] = [
  [{ interval: 'hourly' }, '2026-11-21 14:00:00', '2026-11-21 15:00:00'],
  [{ interval: 'daily' }, '2026-11-22 09:00:00', '2026-11-23 09:00:00'],
  [{ interval: 'Every Day', at: '5:30 pm' }, '2026-11-21 17:30:00', '2026-11-22 17:30:00'],
  [{ interval: 'weekdays', at: '12am' }, '2026-11-23 00:00:00', '2026-11-24 00:00:00'],
  [{ interval: 'weekends', at: 'noon' }, '2026-11-22 12:00:00', '2026-11-28 12:00:00'],
  [{ interval: 'weekly' }, '2026-11-23 09:00:00', '2026-11-30 09:00:00'],
  [{ interval: 'weekly', on: 'Tuesday and Thurs', at: '08:00:30' }, '2026-11-24 08:00:30', '2026-11-26 08:00:30'],
  [{ interval: 'weekly', on: ['sat', 'su'], at: '14:00' }, '2026-11-21 14:00:00', '2026-11-22 14:00:00'],
  [{ interval: 'weekly', startAt: Date.UTC(2026, 10, 27, 14) }, '2026-11-27 15:00:00', '2026-12-04 15:00:00'],
  [{ interval: 'every monday and friday at 9am' }, '2026-11-23 09:00:00', '2026-11-27 09:00:00'],
  [{ interval: 'weekly on sundays' }, '2026-11-22 09:00:00', '2026-11-29 09:00:00'],
  [{ interval: 'monthly' }, '2026-12-01 09:00:00', '2027-01-01 09:00:00'],
  [{ interval: 'monthly', on: 31 }, '2026-11-30 09:00:00', '2026-12-31 09:00:00', '2027-01-31 09:00:00', '2027-02-28 09:00:00'],
  [{ interval: 'monthly on the 15th' }, '2026-12-15 09:00:00', '2027-01-15 09:00:00'],
  [{ interval: 'monthly', on: 'last day', at: '18:00' }, '2026-11-30 18:00:00', '2026-12-31 18:00:00'],
  [{ interval: 'yearly' }, '2027-01-01 09:00:00', '2028-01-01 09:00:00'],
  [{ interval: 'yearly', startAt: Date.UTC(2028, 1, 29, 8) }, '2028-02-29 09:00:00', '2029-02-28 09:00:00'],
  [{ interval: '30m' }, '2026-11-21 14:04:56', '2026-11-21 14:34:56'],
  [{ interval: '1h30m' }, '2026-11-21 15:04:56', '2026-11-21 16:34:56'],
  [{ interval: '1 hour, 30 minutes and 10 seconds' }, '2026-11-21 15:05:06', '2026-11-21 16:35:16'],
  [{ interval: 'every 1.5 hours' }, '2026-11-21 15:04:56', '2026-11-21 16:34:56'],
  [{ interval: 'every minute' }, '2026-11-21 13:35:56', '2026-11-21 13:36:56'],
  [{ interval: 'PT15M' }, '2026-11-21 13:49:56', '2026-11-21 14:04:56'],
  [{ interval: 'every 6 hours', startAt: Date.UTC(2026, 10, 22, 5) }, '2026-11-22 06:00:00', '2026-11-22 12:00:00'],
  [{ interval: '2 days' }, '2026-11-23 13:34:56', '2026-11-25 13:34:56'],
  [{ interval: '2 days', at: '09:00' }, '2026-11-22 09:00:00', '2026-11-24 09:00:00'],
  [{ interval: 'P1D' }, '2026-11-22 13:34:56', '2026-11-23 13:34:56'],
  [{ interval: '1 week' }, '2026-11-28 13:34:56', '2026-12-05 13:34:56'],
  [{ interval: 'every other week on monday at 9:00' }, '2026-11-23 09:00:00', '2026-12-07 09:00:00'],
  [{ interval: 'every 3 months', on: 'last', at: '9:00' }, '2026-11-30 09:00:00', '2027-02-28 09:00:00'],
  [{ interval: 'P1Y', startAt: Date.UTC(2027, 5, 1, 7) }, '2027-06-01 09:00:00', '2028-06-01 09:00:00'],
  [{ interval: '0 9 * * 1-5' }, '2026-11-23 09:00:00', '2026-11-24 09:00:00'],
  [{ interval: '30 0 9 * * MON' }, '2026-11-23 09:00:30', '2026-11-30 09:00:30'],
  [{ interval: '@daily' }, '2026-11-22 00:00:00', '2026-11-23 00:00:00'],
  [{ interval: 'daily', at: '09:00', timezone: 'America/New_York' }, '2026-11-21 15:00:00', '2026-11-22 15:00:00'],
  [{ interval: 'daily at 9 New York time' }, '2026-11-21 15:00:00', '2026-11-22 15:00:00'],
  [{ interval: 'daily', at: '9 and 17', except: ['sundays', '2026-11-23'] }, '2026-11-21 17:00:00', '2026-11-24 09:00:00'],
  [{ interval: 'monthly', on: '1st and 15th' }, '2026-12-01 09:00:00', '2026-12-15 09:00:00'],
  [{ interval: 'biweekly', startAt: Date.UTC(2026, 10, 27, 14) }, '2026-11-27 15:00:00', '2026-12-11 15:00:00'],
  [{ interval: '*/30 9 * * *', except: 'sundays' }, '2026-11-23 09:00:00', '2026-11-23 09:30:00'],
  [{ once: '2026-12-24T18:00' }, '2026-12-24 18:00:00'],
  [{ once: '2027-03-28T02:30' }, '2027-03-28 03:00:00'],
  [{ once: '2027-10-31 02:30', timezone: 'Europe/Berlin' }, '2027-10-31 02:30:00'],
  [{ once: '2026-12-24T09:00', timezone: 'America/New_York' }, '2026-12-24 15:00:00'],
  [{ once: NOW + 1_000 }, '2026-11-21 13:34:57'],
  [{ in: '2h' }, '2026-11-21 15:34:56'],
  [{ in: '1 week' }, '2026-11-28 13:34:56'],
  [{ in: '3 months' }, '2027-02-21 13:34:56']
]

for (const [schedule, ...expected] of READ) {
  t.test(`${JSON.stringify(schedule)} is first due at ${expected[0]}`, async (t) =>
    t.same(await times(schedule, expected.length), expected))
}

const REFUSED: [schedule: Schedule, field: string, sentence: RegExp][] = [
  [{ interval: 'every blue moon' }, 'interval', /cannot be read\. Write a word \(hourly, daily, .*a cron line/],
  [{ interval: '1M' }, 'interval', /cannot be read/],
  [{ interval: 'daily at 9 except holidays' }, 'interval', /Holidays are not known: name their dates/],
  [{ interval: 'every 2 hours from 8am' }, 'startAt', /leave "8am" out, and give that time as schedule\.startAt/],
  [{ interval: 'daily at 9 UTC', timezone: 'Europe/Berlin' }, 'timezone', /leave one of them out/],
  [{ interval: '500 ms' }, 'interval', /cannot be read/],
  [{ interval: '0.5s' }, 'interval', /shorter than one second/],
  [{ interval: 'P0D' }, 'interval', /shorter than one second/],
  [{ interval: '11 years' }, 'interval', /longer than ten years/],
  [{ interval: '1.5 days' }, 'interval', /in hours, such as "36 hours"/],
  [{ interval: '1 month 2 days' }, 'interval', /months differ in length/],
  [{ interval: '0 25 * * *' }, 'interval', /is not a cron line: .*25.*five fields/],
  [{ interval: '0 9 * *' }, 'interval', /it has 4 fields/],
  [{ interval: '@reboot' }, 'interval', /"@reboot" is not known/],
  [{ interval: '0 0 31 2 *' }, 'interval', /never comes/],
  [{ interval: 'daily', timezone: 'Mars/Olympus' }, 'timezone', /"Mars\/Olympus" is not known: give an IANA name/],
  [{ interval: 'daily', at: '25:00' }, 'at', /not a time of day. Write it as "09:00"/],
  [{ interval: 'daily', at: 'nineish' }, 'at', /not a time of day/],
  [{ interval: 'daily', at: '5' }, 'at', /morning or in the afternoon: write "5am" or "5pm"/],
  [{ interval: 'daily at 9am', at: '10:00' }, 'at', /leave one of them out/],
  [{ interval: 'hourly', at: '9am' }, 'at', /hourly has no time of day/i],
  [{ interval: '6 hours', at: '09:00' }, 'at', /cannot also be at a time of day/],
  [{ interval: '0 9 * * *', at: '09:00' }, 'at', /says the time of day itself/],
  [{ interval: 'daily', on: 'monday' }, 'on', /write "weekly" or "monthly"/],
  [{ interval: '30m', on: 'monday' }, 'on', /write a cron line/],
  [{ interval: 'weekdays', on: 'monday' }, 'on', /says the days itself/],
  [{ interval: 'weekly', on: 'someday' }, 'on', /not a weekday/],
  [{ interval: 'weekly', on: 3 }, 'on', /not a weekday/],
  [{ interval: 'monthly', on: 'monday' }, 'on', /"first monday"/],
  [{ interval: 'yearly', on: 3 }, 'on', /schedule\.startAt/],
  [{ interval: '0 9 * * *', on: 'monday' }, 'on', /says its days itself/],
  [{ interval: 'daily', startAt: NOW + 3_700 * 86_400_000 }, 'startAt', /ten years ahead/],
  [{ once: '2026-11-21T13:34:56' }, 'once', /in the past/],
  [{ once: NOW }, 'once', /in the past/],
  [{ once: '2026-02-30T09:00' }, 'once', /"2026-02-30" does not exist/],
  [{ once: '2026-12-24T24:00' }, 'once', /a local time such as "2026-12-24T09:00".*or milliseconds/],
  [{ once: '2026-12-24T09:00Z' }, 'once', /is not a time/],
  [{ once: '2026-12-24' }, 'once', /is not a time/],
  [{ once: '2037-01-01T09:00' }, 'once', /more than ten years/],
  [{ in: 'soon' }, 'in', /not a duration: write "30 minutes"/],
  [{ in: '0.1s' }, 'in', /shorter than one second/],
  [{ once: '2026-12-24T09:00', interval: 'daily' }, 'interval', /either schedule\.interval .*, schedule\.once .* or schedule\.in/],
  [{ in: '2h', once: NOW + 1 }, 'interval', /either/],
  [{ timezone: 'UTC' }, 'interval', /either/],
  [{ in: '2h', at: '9am' }, 'at', /belongs to schedule\.interval/],
  [{ once: NOW + 1, maxRuns: 2 }, 'maxRuns', /belongs to schedule\.interval/],
  [{ in: '2h', missed: 'skip' }, 'missed', /belongs to schedule\.interval/],
  [{ interval: 'daily', except: 'easter' }, 'except', /holidays are not known/],
  [{ interval: 'daily', except: '2026-02-30' }, 'except', /does not exist/],
  [{ interval: 'weekly', on: 'monday', except: ['mondays'] }, 'interval', /never comes/],
  [{ interval: 'every 2 days', at: '9:00', except: ['weekdays', 'weekends'] }, 'interval', /never comes/],
  [{ interval: '30m', except: 'sundays' }, 'except', /add hours/]
]

for (const [schedule, field, sentence] of REFUSED) {
  t.test(`${JSON.stringify(schedule)} is refused in a sentence that helps`, async (t) => {
    const error = await parse(schedule).then(() => undefined, (error) => error)

    t.match(error, {
      code: 'ERR_BAD_SCHEDULE',
      message: sentence,
      details: [{ path: `/schedule/${field}`, message: sentence }]
    })
  })
}

const piece = fc.constantFrom(
  'every',
  'other',
  'friday',
  'first',
  '1st',
  'except',
  'between',
  'to',
  'morning',
  'twice a day',
  'in',
  'daily',
  'hourly',
  'week',
  'weeks',
  'monday',
  'and',
  ',',
  'on',
  'at',
  '9am',
  '09:00',
  '2',
  '1.5',
  '30',
  'h',
  'm',
  'M',
  'P',
  'T',
  '1D',
  '*',
  '*/5',
  '1-5',
  'L',
  '15W',
  'FRI#2',
  '?',
  '@daily',
  '@',
  '0',
  '99999999999',
  'months',
  ' ',
  '%s'
)
const text = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(' ')),
  fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 250 }),
  fc.constantFrom('daily', 'weekly', 'monthly', '2 days', 'every 3 weeks', '30m', '0 9 * * *')
)
const perhaps = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const odd: fc.Arbitrary<Schedule> = fc.record({
  interval: fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constant(undefined) }),
  once: perhaps(fc.oneof(text, fc.integer({ min: NOW - 9, max: NOW + 9_000_000 }), fc.constant('2026-12-24T09:00'))),
  in: perhaps(text),
  except: perhaps(fc.oneof(text, fc.constantFrom('sundays', '24 december'))),
  timezone: perhaps(fc.oneof(text, fc.constantFrom('UTC', 'europe/berlin', '+05:30', 'Pacific/Apia', '__proto__'))),
  at: perhaps(fc.oneof(text, fc.constantFrom('9am', '23:59'))),
  on: perhaps(fc.oneof(text, fc.integer({ min: 0, max: 32 }), fc.array(text, { maxLength: 8 }), fc.constantFrom('mon', 'last'))),
  startAt: perhaps(fc.oneof(fc.double(), fc.integer({ min: 0, max: NOW + 1_000 * 86_400_000 }))),
  maxRuns: perhaps(fc.oneof(fc.double(), fc.integer({ min: 1, max: 9 })))
})

t.test('whatever is written is a plan or a BadSchedule; a plan is the same after it was stored, and what it plans is ahead, in ' +
  'order', async (t) => {
  let plans = 0
  await fc.assert(
    fc.asyncProperty(odd, async (schedule) => {
      const plan = await parse(schedule).catch((error) => {
        if (!(error instanceof BadSchedule)) throw error
      })
      if (plan === undefined) return
      plans++
      const stored = JSON.parse(JSON.stringify(plan))
      const ahead = upcoming(plan, NOW, 5)
      return ahead.every((at, i) => Number.isInteger(at) && at > (ahead[i - 1] ?? NOW)) &&
        ahead.length === Math.min(5, plan.maxRuns ?? 5) &&
        upcoming(stored, NOW, 5).join() === ahead.join() && JSON.stringify(await parse(schedule)) === JSON.stringify(stored)
    }),
    { numRuns: 3_000 }
  )
  t.ok(plans > 100, `${plans} of them plans`)
})
