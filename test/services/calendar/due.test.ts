import { deepEqual } from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import type { Schedule } from '../../../schemas/schedule.ts'
import { due, upcoming } from '../../../services/calendar/due.ts'
import { parseSchedule } from '../../../services/calendar/parse-schedule.ts'
import { inMachineZone } from '../../../services/calendar/schedule-plan.ts'
import { slotsBetween } from '../../../services/calendar/calendar.ts'
import { Service, settled } from './simulation.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Monday, half past eight in Berlin. */
const NOW = Date.UTC(2026, 10, 23, 7, 30)
const NINE = NOW + HOUR / 2

const begin = async (schedule: Schedule, now = NOW) =>
  new Service(await parseSchedule({ timezone: 'Europe/Berlin', ...schedule }, { timezone: 'UTC', now }))

t.test('a time that comes while the service is awake is an ordinary run, once', async (t) => {
  const service = await begin({ interval: 'daily' })

  t.same(service.look(NINE - 1), { slots: [], lastSlot: NOW, next: NINE })
  t.same(service.look(NINE + 400), {
    run: { at: NINE, trigger: 'schedule', standsFor: 1 },
    slots: [{ at: NINE, fate: 'run' }],
    lastSlot: NINE,
    next: NINE + DAY
  })
  service.restart()
  t.same(service.look(NINE + 800).slots, [])
})

t.test('after sleep the times within grace are one run that is told how many it stands for, and older ones are missed', async (t) => {
  const service = await begin({ interval: 'daily', graceMs: 3 * DAY })

  const { run, slots, next } = service.look(NINE + 4 * DAY + HOUR)

  t.same(run, { at: NINE + 4 * DAY, trigger: 'catch_up', standsFor: 3 })
  t.same(slots, [
    { at: NINE, fate: 'missed' },
    { at: NINE + DAY, fate: 'missed' },
    { at: NINE + 2 * DAY, fate: 'coalesced', into: NINE + 4 * DAY },
    { at: NINE + 3 * DAY, fate: 'coalesced', into: NINE + 4 * DAY },
    { at: NINE + 4 * DAY, fate: 'run' }
  ])
  t.equal(next, NINE + 5 * DAY)
})

t.test('a time is made up for within half of its period, a day at least and a week at most', async (t) => {
  const rows: Array<[schedule: Schedule, first: number, days: number]> = [
    [{ interval: 'hourly' }, NINE, 1],
    [{ interval: 'daily' }, NINE, 1],
    [{ interval: 'weekly' }, NINE, 3.5],
    [{ interval: 'monthly', on: 23 }, NINE, 7],
    [{ interval: 'monthly', on: 23, graceMs: 9 * DAY }, NINE, 9],
    [{ once: '2026-11-23T09:00' }, NINE, 7],
    [{ in: '30m' }, NINE, 7]
  ]
  for (const [schedule, first, days] of rows) {
    const period = schedule.interval === 'hourly' ? HOUR : schedule.interval === 'daily' ? DAY : Infinity
    const late = (ms: number) => begin(schedule).then((service) => service.look(first + days * DAY + ms).slots[0])
    t.equal((await late(0)).fate, period < Infinity ? 'coalesced' : 'run', JSON.stringify(schedule))
    t.equal((await late(1)).fate, 'missed', JSON.stringify(schedule))
  }
})

t.test('a single time runs once, however late, or is missed; nothing comes after it', async (t) => {
  const service = await begin({ once: '2026-11-23T09:00' })
  t.same(service.look(NINE + 2 * DAY), {
    run: { at: NINE, trigger: 'catch_up', standsFor: 1 },
    slots: [{ at: NINE, fate: 'run' }],
    lastSlot: NINE,
    next: undefined
  })
  service.restart()
  t.same(service.look(NINE + 9 * DAY).slots, [])
  const old = await begin({ in: '30m', graceMs: 0 })
  t.same(old.look(NINE + 31 * SECOND), { slots: [{ at: NINE, fate: 'missed' }], lastSlot: NINE, next: undefined })
})

t.test('with missed: skip nothing is made up for, but a time at hand runs', async (t) => {
  const service = await begin({ interval: 'hourly', missed: 'skip' })

  t.same(service.look(NINE + 2 * HOUR + 31 * SECOND).slots.map(({ fate, reason }) => `${fate} ${reason}`), Array(3).fill('skipped late'))
  const { run, slots } = service.look(NINE + 5 * HOUR + 29 * SECOND)
  t.same(run, { at: NINE + 5 * HOUR, trigger: 'schedule', standsFor: 1 })
  t.same(slots.map(({ fate }) => fate), ['skipped', 'skipped', 'run'])
})

for (const interval of ['every 1 second', '* * * * * *']) {
  t.test(`a schedule of seconds ("${interval}") that slept for a year leaves two lines and a run`, async (t) => {
    const service = await begin({ interval })

    const { run, slots } = service.look(NOW + 365 * DAY)

    t.same(slots, [
      { from: NOW + SECOND, at: NOW + 364 * DAY - SECOND, count: 364 * 86_400 - 1, fate: 'missed' },
      { from: NOW + 364 * DAY, at: NOW + 365 * DAY - SECOND, count: 86_400, fate: 'coalesced', into: NOW + 365 * DAY },
      { at: NOW + 365 * DAY, fate: 'run' }
    ])
    t.same(run, { at: NOW + 365 * DAY, trigger: 'catch_up', standsFor: 86_401 })
    t.equal(service.next, NOW + 365 * DAY + SECOND)
  })
}

t.test('times that come while a run is under way are skipped for the overlap', async (t) => {
  const service = await begin({ interval: '1 hour' })

  const { run, slots } = service.look(NOW + 2 * HOUR, true)

  t.equal(run, undefined)
  t.same(slots, [1, 2].map((n) => ({ at: NOW + n * HOUR, fate: 'skipped', reason: 'overlap' })))
  t.equal(service.look(NOW + 3 * HOUR).run?.at, NOW + 3 * HOUR)
})

t.test('after maxRuns runs nothing is ahead', async (t) => {
  const service = await begin({ interval: 'daily', maxRuns: 2 })

  t.same(service.upcoming(NOW, 10), [NINE, NINE + DAY])
  service.look(NINE)
  t.same(service.upcoming(NINE, 10), [NINE + DAY])
  t.equal(service.look(NINE + DAY).next, undefined)
  t.same(service.upcoming(NINE + DAY, 10), [])
  t.same(service.look(NINE + 9 * DAY), { slots: [], lastSlot: NINE + DAY })
})

t.test('a clock that is set back by less than a period makes nothing come twice', async (t) => {
  const service = await begin({ interval: 'hourly' })
  service.look(NINE)

  t.same(service.look(NINE - 50 * 60 * SECOND).slots, [])
  t.same(service.look(NINE).slots, [])
  t.same(service.look(NINE - HOUR).slots, [], 'nor does one of exactly a period, to the time before')
  t.same(service.look(NINE - HOUR + SECOND).slots, [])
  t.same(service.look(NINE + HOUR).slots, [{ at: NINE + HOUR, fate: 'run' }])
})

t.test('a clock that is a year behind for some minutes changes nothing', async (t) => {
  const service = await begin({ interval: 'daily' })
  service.look(NINE)

  t.same(service.look(NINE - 365 * DAY + HOUR).slots, [])
  t.same(service.look(NINE + HOUR).slots, [])
  t.same(service.look(NINE + DAY).slots, [{ at: NINE + DAY, fate: 'run' }])
})

t.test('a clock that was a year ahead and is corrected does not make the schedule stand still for a year', async (t) => {
  const service = await begin({ interval: 'daily' })
  service.look(NINE + 365 * DAY)

  t.equal(service.look(NINE + HOUR).next, NINE + DAY)
  t.same(service.upcoming(NINE + HOUR, 1), [NINE + DAY])
  t.same(service.look(NINE + DAY + SECOND).run, { at: NINE + DAY, trigger: 'schedule', standsFor: 1 })
  t.same(service.look(NINE + 2 * DAY).slots, [{ at: NINE + 2 * DAY, fate: 'run' }])
})

t.test('a start that was given as now has passed when it arrives and still counts; an older one has no backlog', async (t) => {
  t.equal((await begin({ interval: '2 hours', startAt: NOW - 40 })).look(NOW).run?.at, NOW - 40)
  t.same((await begin({ interval: '2 hours', startAt: NOW - DAY })).look(NOW + 1).slots, [])
  const ahead = await begin({ interval: '2 hours', startAt: NOW + 10 * DAY })
  t.same(ahead.look(NOW + 9 * DAY), { slots: [], lastSlot: NOW, next: NOW + 10 * DAY })
  t.equal(ahead.look(NOW + 10 * DAY).run?.at, NOW + 10 * DAY)
})

t.test('a schedule without a time zone keeps its local time where the machine goes, one with a zone stays', async (t) => {
  const follows = await parseSchedule({ interval: 'daily', at: '09:00' }, { timezone: 'Europe/Berlin', now: NOW })
  const stays = await parseSchedule({ interval: 'daily', at: '09:00', timezone: 'Europe/Berlin' }, { timezone: 'Europe/Berlin', now: NOW })

  t.same(upcoming(inMachineZone(follows, 'America/New_York'), NOW, 1), [Date.UTC(2026, 10, 23, 14)])
  t.same(upcoming(inMachineZone(stays, 'America/New_York'), NOW, 1), [NINE])
})

const intervals = fc.constantFrom(
  'daily',
  'hourly',
  'weekdays',
  'weekly',
  'monthly',
  '30s',
  '7 minutes',
  '1 day',
  '2 weeks',
  '*/10 8-9 * * 1-5',
  '30 2 * * *'
)
const schedules = fc.record({
  interval: intervals,
  timezone: fc.constantFrom('Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana', 'UTC'),
  missed: fc.constantFrom('run_once' as const, 'skip' as const),
  graceMs: fc.constantFrom(0, 60_000, DAY, 40 * DAY)
})
const steps = fc.array(
  fc.record({
    by: fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: 3 * DAY }), fc.integer({ min: 0, max: 90 * DAY })),
    busy: fc.boolean()
  }),
  { minLength: 1, maxLength: 12 }
)

t.test('whenever it is looked at, every time that passed has one fate, a look gives one run at most, and looking again changes ' +
  'nothing', async (t) => {
  await fc.assert(
    fc.asyncProperty(schedules, steps, fc.integer({ min: 0, max: 300 * DAY }), async (schedule, looks, offset) => {
      const start = NOW + offset
      const service = await begin(schedule, start)
      let now = start
      for (const { by, busy } of looks) {
        now += by
        const { slots, run, next } = service.look(now, busy)
        deepEqual(slots.filter(({ fate }) => fate === 'run').length, run ? 1 : 0)
        deepEqual(slots.length <= 201, true)
        deepEqual(due({ plan: service.plan, lastSlot: service.lastSlot, next, now }), { slots: [], lastSlot: service.lastSlot, next })
        deepEqual(next, service.upcoming(now, 1)[0])
      }
      deepEqual(settled(service.plan, service.ledger), slotsBetween(service.plan, start, now, Infinity))
    }),
    { numRuns: 60 }
  )
  t.pass('in sixty lives')
})

t.test('however the clock is set, a schedule goes on within a period, and a look gives one run at most', async (t) => {
  const jumps = fc.array(fc.integer({ min: -90 * DAY, max: 90 * DAY }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(schedules, jumps, async (schedule, jumps) => {
      const service = await begin(schedule)
      let now = NOW
      for (const jump of jumps) {
        now += jump
        service.look(now)
        const [first, second] = slotsBetween(service.plan, now, Infinity, 2)
        // One time at most is passed over: the one that a step back would make come twice.
        const { next } = service
        deepEqual(next === first || next === second, true)
        const runs = service.runs.length
        service.look(next!)
        deepEqual(service.runs.length, runs + 1)
        deepEqual(service.runs.at(-1)!.at, next)
        now = next!
      }
    }),
    { numRuns: 60 }
  )
  t.pass('in sixty lives')
})
