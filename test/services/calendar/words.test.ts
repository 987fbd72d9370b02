import { Temporal } from '@js-temporal/polyfill'
import t from 'tap'
import { readText } from '../../../services/calendar/read-schedule.ts'
import { cases, ZONES } from './cases.ts'
import { compareZone } from './compare.ts'
import { NOT_UNDERSTOOD } from './not-understood.ts'
import { dayAt, type Day, REPEATED, type Rule, SINGLE, WAITS, WEEKDAYS, WINDOWS } from './phrase-rules.ts'
import { changes, moment } from './oracle.ts'
import { live } from './simulation.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const WORD_ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']

const nows = (timezone: string) =>
  changes(timezone, Date.UTC(2026, 1, 1), Date.UTC(2027, 0, 1)).flatMap((at) => [at - 30 * MINUTE, at - 2 * DAY - 61_234])

t.test('in three zones over both changes of their clocks, phrases are the times that Temporal finds day by day', async (t) => {
  const phrases = [REPEATED, SINGLE, WEEKDAYS, WAITS, WINDOWS].flat().flatMap(([each]) => each)
  t.ok(new Set(phrases).size > 300, `${phrases.length} phrases`)
  const wrong: unknown[] = []
  for (const timezone of WORD_ZONES) {
    t.equal(nows(timezone).length, 4)
    for (const now of nows(timezone)) {
      const check = async (texts: string[], expected: number[]) => {
        for (const text of texts) {
          const next = await readText(text, { timezone, now }).then((read) => read.next, (error) => error.message)
          if (String(next) !== expected.join()) wrong.push([text, timezone, [next].flat().map(iso), expected.map(iso)])
        }
      }
      for (const [texts, isDay, ...times] of REPEATED) await check(texts, comingTimes(isDay, times, timezone, now))
      const today = dayAt(dayOf(now, timezone))
      for (const [texts, isDay, ...times] of [...SINGLE, ...WEEKDAYS]) {
        await check(texts, comingTimes((day) => isDay(day, today), times, timezone, now).slice(0, 1))
      }
      for (const [texts, minutes] of WAITS) await check(texts, [now + minutes * MINUTE])
      for (const [texts, isDay, from, to, minutes] of WINDOWS) {
        const [start, end] = [from, to].map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)))
        await check(texts, comingMinutes(now, timezone, (local) => {
          const minute = local / MINUTE % 1440
          return isDay(dayAt(Math.floor(local / DAY))) && minute >= start && minute <= end && (minute - start) % minutes === 0
        }))
      }
    }
  }
  t.same(wrong.slice(0, 3), [])
})

const dayOf = (at: number, timezone: string) =>
  Date.parse(`${new Date(at).toLocaleString('sv', { timeZone: timezone }).slice(0, 10)}T00:00Z`) / DAY

/** The next five times, day by day. Every other week is counted from the first day on which a time is still to come. */
function comingTimes (isDay: Rule[1], times: string[], timezone: string, now: number): number[] {
  const found: number[] = []
  let first: Day | undefined
  const start = Math.floor(now / DAY) - 2
  for (let number = start; found.length < 5 && number < start + 2_300; number++) {
    const day = dayAt(number)
    if (!isDay(day, first ?? day)) continue
    const coming = times.map((time) => moment(Temporal.PlainDate.from(day.name), time, timezone)).filter((at) => at > now)
    if (coming.length > 0) first ??= day
    found.push(...coming)
  }
  return found.slice(0, 5)
}

/** The next five minutes that count, found by looking at the clock on the wall every five minutes. */
function comingMinutes (now: number, timezone: string, counts: (local: number) => boolean): number[] {
  const found: number[] = []
  const offsets = [now, ...changes(timezone, now, now + 7 * DAY)].map((at) => ({
    at,
    ms: Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).offsetNanoseconds / 1_000_000
  }))
  for (let at = Math.floor(now / MINUTE / 5 + 1) * 5 * MINUTE; found.length < 5; at += 5 * MINUTE) {
    if (counts(at + offsets.findLast((each) => each.at <= at)!.ms)) found.push(at)
  }
  return found
}

const iso = (at: number | string) => typeof at === 'string' ? at.slice(0, 90) : new Date(at).toISOString()
const NOW = Date.UTC(2026, 10, 25, 11, 30)
/** Wednesday, 25 November 2026, half past twelve in Berlin. */
const read = (text: string, zone?: string) => readText(text, { timezone: 'Europe/Berlin', now: NOW, zone })

t.test('one time is read with its date, and is said in words', async (t) => {
  const rows: Array<[string, object, string]> = [
    ['tomorrow at 5pm', { once: '2026-11-26T17:00' }, 'once, on Thursday, 26 November 2026 at 17:00'],
    ['Tomorrow', { once: '2026-11-26T09:00' }, 'once, on Thursday, 26 November 2026 at 09:00'],
    ['tomorrow 5 p.m.', { once: '2026-11-26T17:00' }, 'once, on Thursday, 26 November 2026 at 17:00'],
    ['the day after tomorrow at 8:30', { once: '2026-11-27T08:30' }, 'once, on Friday, 27 November 2026 at 08:30'],
    ['today at 17:00', { once: '2026-11-25T17:00' }, 'once, on Wednesday, 25 November 2026 at 17:00'],
    ['tonight', { once: '2026-11-25T21:00' }, 'once, on Wednesday, 25 November 2026 at 21:00'],
    ['this evening at 7', { once: '2026-11-25T19:00' }, 'once, on Wednesday, 25 November 2026 at 19:00'],
    ['at 3pm', { once: '2026-11-25T15:00' }, 'once, on Wednesday, 25 November 2026 at 15:00'],
    ['on friday at 9', { once: '2026-11-27T09:00' }, 'once, on Friday, 27 November 2026 at 09:00'],
    ['wednesday at 9', { once: '2026-12-02T09:00' }, 'once, on Wednesday, 2 December 2026 at 09:00'],
    ['at 5pm on friday', { once: '2026-11-27T17:00' }, 'once, on Friday, 27 November 2026 at 17:00'],
    ['tomorrow in the afternoon at 3', { once: '2026-11-26T15:00' }, 'once, on Thursday, 26 November 2026 at 15:00'],
    ['on december 24 at 18:00', { once: '2026-12-24T18:00' }, 'once, on Thursday, 24 December 2026 at 18:00'],
    ['1st of march at noon', { once: '2027-03-01T12:00' }, 'once, on Monday, 1 March 2027 at 12:00'],
    ['28 march at 2:30', { once: '2027-03-28T02:30' }, 'once, on Sunday, 28 March 2027 at 02:30, which the clocks skip: it runs at 03:00'],
    ['2027-02-03 at 9:00', { once: '2027-02-03T09:00' }, 'once, on Wednesday, 3 February 2027 at 09:00'],
    ['in 2 hours', { in: '2 hours' }, 'once, on Wednesday, 25 November 2026 at 14:30'],
    ['in half an hour', { in: 'half an hour' }, 'once, on Wednesday, 25 November 2026 at 13:00'],
    ['in an hour and a half', { in: 'an hour and a half' }, 'once, on Wednesday, 25 November 2026 at 14:00'],
    ['in 2 and a half hours', { in: '2 and a half hours' }, 'once, on Wednesday, 25 November 2026 at 15:00'],
    ['in three quarters of an hour', { in: 'three quarters of an hour' }, 'once, on Wednesday, 25 November 2026 at 13:15'],
    ['ten minutes from now', { in: 'ten minutes' }, 'once, on Wednesday, 25 November 2026 at 12:40'],
    ['in a week', { in: 'a week' }, 'once, on Wednesday, 2 December 2026 at 12:30']
  ]
  for (const [text, schedule, words] of rows) {
    const found = await read(text)
    t.same([found.schedule, found.words, found.next.length], [schedule, words, 1], text)
  }
})

t.test('what is repeated is said in words, with its end and its exceptions', async (t) => {
  const rows: Array<[string, string]> = [
    ['every second day at 9', 'every 2 days at 09:00'],
    ['every 2nd day at 9', 'every 2 days at 09:00'],
    ['every third week on monday 8am', 'every 3 weeks on Monday at 08:00'],
    ['every hour and a half', 'every 1 hour and 30 minutes'],
    ['every ten minutes between 9 and 17 on weekdays', 'Monday to Friday, every 10 minutes from 09:00, the last at 17:00'],
    ['every 25 minutes between 9 and 10', 'every 25 minutes from 09:00, the last at 09:50'],
    ['every other friday', 'every other week on Friday at 09:00'],
    ['every 3 weeks on friday', 'every 3 weeks on Friday at 09:00'],
    ['quarterly', 'on the 1st of January, April, July and October at 09:00'],
    ['1st and 15th at 8', 'on the 1st and 15th of every month at 08:00'],
    ['last monday of the month', 'on the last Monday of every month at 09:00'],
    ['last day of the month', 'on the last day of every month at 09:00'],
    ['twice a day at 9 and 17', 'every day at 09:00 and 17:00'],
    ['every weekday at 8 except mondays and 24 december', 'Monday to Friday at 08:00, except on Monday and on 24 December'],
    ['every 90 minutes', 'every 1 hour and 30 minutes'],
    ['hourly', 'every hour at minute 0'],
    ['*/10 9-17 * * 1-5', 'by the cron line "*/10 9-17 * * 1-5"'],
    ['every 24 december', 'every year on 24 December at 09:00'],
    ['30th of the month', 'on the 30th of every month (of shorter months the last day) at 09:00']
  ]
  for (const [text, words] of rows) t.equal((await read(text)).words, words, text)
  t.match(await read('daily at 9', 'America/New_York'), { zone: 'America/New_York', next: [Date.UTC(2026, 10, 25, 14)] })
})

t.test('what may mean several things, or nothing, is no schedule, and the sentence says why', async (t) => {
  const understood: string[] = []
  for (const text of NOT_UNDERSTOOD) {
    const found = await read(text).catch((error) => {
      if (error.code !== 'ERR_BAD_SCHEDULE' || error.message.length < 30) throw error
    })
    if (found !== undefined) understood.push(`${text}: ${found.words}`)
  }
  t.same(understood, [])
  for (const nth of ['second', '2nd', 'third']) {
    const { message } = await read(`every ${nth} friday`).then(() => t.fail('is unclear'), (error) => error)
    for (const [, advice] of message.split('write')[1].matchAll(/"(.+?)"/g)) t.ok((await read(advice)).next.length, advice)
  }
  await t.rejects(read('daily at 9', 'Mars/Olympus'), { message: /IANA/ })
})

t.test('through a year of naps, long sleeps, restarts, overlaps and small steps of the clock every time has one fate, and what is ' +
  'foretold is what comes', async (t) => {
  const zones = Object.entries(ZONES)
  let lives = 0
  for (const [i, [timezone, [year]]] of zones.entries()) {
    // Every kind of schedule has its turn in some zone, each zone two of them; croner is slow with those of every hour.
    const kinds = cases(year).filter((_, kind) => kind % zones.length === i)
    for (const kind of kinds) {
      const from = Date.UTC(year, 2, 1)
      t.same(await live(kind, timezone, from, from + 365 * 86_400_000, ++lives), [])
    }
  }
})

for (const timezone of Object.keys(ZONES)) {
  t.test(`words, durations and cron lines come when Temporal and croner say in ${timezone}, where its clocks are changed`, async (t) => {
    const { compared, differences } = await compareZone(timezone, { whole: false })

    t.ok(compared > 0)
    t.same(differences, [])
  })
}
