import t from 'tap'
import { machineTimezone } from '../../services/calendar/index.ts'
import { fakeClock } from '../harness/clock.ts'
import { heldModel } from '../harness/held-model.ts'
import { DAY, fate, HOUR, MINUTE, scheduling, SECOND } from '../harness/schedules.ts'

/** Monday, 09:00 UTC. */
const NOW = Date.UTC(2026, 0, 5, 9)
const jan = (day: number, hour = 0, minute = 0) => Date.UTC(2026, 0, day, hour, minute)

const SCHEDULES: Array<[object, number[]]> = [
  [{ interval: 'hourly' }, [jan(5, 10), jan(5, 11)]],
  [{ interval: 'daily' }, [jan(6, 9), jan(7, 9)]],
  [{ interval: 'daily', at: '5:30 pm' }, [jan(5, 17, 30), jan(6, 17, 30)]],
  [{ interval: 'daily', at: '09:00', timezone: 'America/New_York' }, [jan(5, 14), jan(6, 14)]],
  [{ interval: 'weekdays', startAt: jan(9, 9) }, [jan(9, 9), jan(12, 9)]],
  [{ interval: 'weekly', on: ['tue', 'friday'], at: 'noon' }, [jan(6, 12), jan(9, 12)]],
  [{ interval: 'monthly', on: 'last', at: '23:00' }, [jan(31, 23), Date.UTC(2026, 1, 28, 23)]],
  [{ interval: 'every monday and friday at 9am' }, [jan(9, 9), jan(12, 9)]],
  [{ interval: '30m' }, [NOW + 30 * MINUTE, NOW + 60 * MINUTE]],
  [{ interval: '90s' }, [NOW + 90 * SECOND, NOW + 180 * SECOND]],
  [{ interval: 'every 6 hours' }, [NOW + 6 * HOUR, NOW + 12 * HOUR]],
  [{ interval: 'PT15M', startAt: NOW + HOUR }, [NOW + HOUR, NOW + HOUR + 15 * MINUTE]],
  [{ interval: 'P1D' }, [NOW + DAY, NOW + 2 * DAY]],
  [{ interval: '2 days', at: '08:00' }, [jan(6, 8), jan(8, 8)]],
  [{ interval: '0 9 * * 1-5' }, [jan(6, 9), jan(7, 9)]],
  [{ interval: '*/20 * * * *', timezone: 'Asia/Kolkata' }, [NOW + 10 * MINUTE, NOW + 30 * MINUTE]],
  [{ interval: '@weekly', maxRuns: 1 }, [jan(11)]]
]

t.test('words, durations, ISO 8601 and cron lines plan what they say, in their time zone', async (t) => {
  const { tasks, start, schedule } = await scheduling(t)
  for (const [given, times] of SCHEDULES) {
    const task = await start('system info', given)
    t.match(task, { status: 'scheduled', nextRunAt: times[0] }, JSON.stringify(given))
    t.same((await schedule(task.id, '?upcoming=2')).upcoming, times)
    await tasks.call('DELETE', `/${task.id}`)
  }
})

t.test('what was foretold is what comes, one run each, and after maxRuns the task is completed', async (t) => {
  const { tasks, events, start, schedule, to, slots } = await scheduling(t)
  const { id } = await start('system info', { interval: '2h', maxRuns: 2 })
  const { upcoming } = await schedule(id)
  t.equal(upcoming.length, 2)
  for (const [n, at] of upcoming.entries()) {
    await to(at)
    t.match(await events.until('task:start'), { runNumber: n + 1, startedAt: at })
    await events.until('task:complete')
  }

  t.match(await tasks.get(`/${id}`), { status: 'completed', totalRuns: 2, nextRunAt: undefined })
  t.match(await tasks.runs(id), [{ trigger: 'schedule' }, { trigger: 'schedule' }])
  t.match(await slots(id, 2), upcoming.map((at: number) => ({ at, fate: 'run', runId: String, settledAt: at })))
})

t.test('what cannot be read is refused with what can, by creating and by changing', async (t) => {
  const { tasks, start } = await scheduling(t)
  const { id } = await start('system info', { interval: 'daily' })
  const refusals: Array<[object, RegExp]> = [
    [{ interval: 'sometimes' }, /"sometimes" cannot be read\. Write a word \(hourly, .*a duration \("30m".*a cron line/],
    [{ interval: '61 * * * *' }, /cron|cannot be read/],
    [{ interval: '0 0 31 2 *' }, /never/],
    [{ interval: '500ms' }, /second|cannot be read/],
    [{ interval: 'daily', timezone: 'Mars/Olympus' }, /"Mars\/Olympus" is not known: give an IANA name/],
    [{ interval: 'daily', at: '25:00' }, /at/],
    [{ interval: 'weekly', on: 'someday' }, /on/],
    [{ interval: '5m', at: '09:00' }, /cannot also be at a time of day/],
    [{ interval: 'daily', startAt: NOW + 11 * 366 * DAY }, /startAt.*ten years/],
    [{ interval: 'daily', maxRuns: 0 }, /maxRuns/],
    [{ interval: 'daily', graceMs: -1 }, /graceMs/],
    [{ interval: 'daily', missed: 'run_all' }, /missed/],
    [{ at: '09:00' }, /interval/]
  ]
  for (const [schedule, sentence] of refusals) {
    for (
      const { status, body } of [
        await tasks.call('POST', '', { goal: 'x', taskType: 'recurring', schedule }),
        await tasks.call('PUT', `/${id}`, { schedule })
      ]
    ) {
      t.equal(status, 400, JSON.stringify(schedule))
      t.match(body.error, sentence)
    }
  }
  t.match(await tasks.get(`/${id}`), { schedule: { interval: 'daily' }, nextRunAt: NOW + DAY }, 'the schedule stays as it was')
})

const plan = { phases: [{ description: 'do it' }] }

t.test('what was missed while the service was off is one run that is told how many it stands for, or is passed over', async (t) => {
  const model = await heldModel(t)
  const { clock, start, restart } = await scheduling(t, model.parts)
  const from = clock.now()
  const once = await start('once', { interval: '1h' }, { plan })
  const skip = await start('skip', { interval: '1h', missed: 'skip' }, { plan })
  const grace = await start('grace', { interval: '1h', graceMs: 90 * MINUTE }, { plan })
  const old = await start('old', { interval: '1h', graceMs: MINUTE }, { plan })

  const { tasks, events, slots } = await restart(3.5 * HOUR)
  const [one, two, three] = [1, 2, 3].map((n) => from + n * HOUR)
  t.same((await slots(once.id, 3)).map(fate), [[one, 'coalesced', three], [two, 'coalesced', three], [three, 'run']])
  t.same((await slots(skip.id, 3)).map(fate), [one, two, three].map((at) => [at, 'skipped', 'late']))
  t.same((await slots(grace.id, 3)).map(fate), [[one, 'missed'], [two, 'coalesced', three], [three, 'run']])
  t.same((await slots(old.id, 3)).map(fate), [one, two, three].map((at) => [at, 'missed']))

  await model.begun(1)
  await clock.advance(500)
  await model.begun(2)
  const madeUp = model.told.map((told) => Number(/This run makes up for (\d) scheduled times that passed/.exec(told)?.[1]))
  t.same(madeUp.sort(), [2, 3], 'whichever of them began first')
  model.finish(0)
  model.finish(1)
  await events.ended(2)
  for (const [{ id }, standsFor] of [[once, 3], [grace, 2]] as const) {
    t.match(await tasks.runs(id), [{ trigger: 'catch_up', standsFor, status: 'completed' }])
    t.equal((await tasks.runs(id)).length, 1)
    t.ok(
      (await slots(id, 3)).filter(({ fate }) => fate !== 'missed').every(({ runId }) => runId !== undefined),
      'each says which run stood for it'
    )
  }
  for (const { id } of [skip, old]) t.match(await tasks.get(`/${id}`), { totalRuns: 0, status: 'scheduled', nextRunAt: from + 4 * HOUR })
})

t.test('runs that make up begin one after the other and are two at once at most, while others go on', async (t) => {
  const model = await heldModel(t)
  const { clock, start, restart } = await scheduling(t, model.parts)
  for (let n = 0; n < 4; n++) await start(`late ${n}`, { interval: 'daily' }, { plan })
  const { events, tasks } = await restart(1.5 * DAY)
  const starts = () => events.of('task:start').length

  await model.begun(1)
  await clock.advance(499)
  t.equal(model.told.length, 1, 'the second waits')
  await clock.advance(1)
  await model.begun(2)
  await clock.advance(5_000)
  const byHand = await tasks.create('by hand', { plan })
  await tasks.post(`/${byHand.id}/start`)
  await model.begun(3)
  t.match(model.told[2], 'by hand', 'the third waits for one of the two, and holds nobody up')
  t.equal(starts(), 3)
  model.finish(0)
  await model.begun(4)
  t.match(model.told[3], /late \d/)
  await clock.advance(500)
  model.finish(1)
  await model.begun(5)
  for (const n of [2, 3, 4]) model.finish(n)
  await events.ended(5)
  t.equal(starts(), 5, 'each ran once')
})

t.test('a machine that slept makes up once; one whose clock was set back does nothing twice and does not stand still', async (t) => {
  const real = fakeClock()
  let offset = 0
  const clock = { ...real, now: () => real.now() + offset }
  const { start, slots, schedule, tasks, events, planned } = await scheduling(t, { clock })
  const from = clock.now()
  const { id } = await start('system info', { interval: '1h' })

  // Sleep: the wall clock jumps, the other does not.
  offset += 2.5 * HOUR
  await real.advance(10_000)
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'coalesced', from + 2 * HOUR], [from + 2 * HOUR, 'run']])
  await events.ended(1)

  offset -= 20 * MINUTE
  await real.advance(10_000)
  offset -= 20 * MINUTE
  await real.advance(10_000)
  t.same((await schedule(id)).upcoming[0], from + 3 * HOUR, 'set back by less than a period: nothing comes twice')
  t.ok(await planned(id, from + 3 * HOUR))

  offset -= HOUR
  await real.advance(10_000)
  t.ok(await planned(id, from + HOUR), 'set back by more: it goes on with the corrected clock')
  await real.advance(from + HOUR - clock.now())
  await events.ended(2)
  t.match(await tasks.runs(id), [{ trigger: 'schedule', startedAt: from + HOUR }, { trigger: 'catch_up', standsFor: 2 }])
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'run'], [from + 2 * HOUR, 'run']], 'a time that came again has what it became last')
})

t.test('clocks set far back, or a machine moved, while the service was off are noticed when it starts', async (t) => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  process.env.TZ = 'America/New_York'
  const { clock, close, start, home, cwd } = await scheduling(t)
  const daily = await start('system info', { interval: 'daily', at: '18:00', timezone: undefined })
  t.equal(daily.nextRunAt, Date.UTC(2026, 0, 5, 23), 'in New York')
  const hourly = await start('system info', { interval: '1h' })
  await close()

  process.env.TZ = 'Europe/Berlin'
  const later = fakeClock(clock.now() - 30 * DAY)
  const { planned } = await scheduling(t, { clock: later, home, cwd })
  t.ok(await planned(daily.id, Date.UTC(2025, 11, 6, 17)), 'six in the evening, in Berlin')
  t.ok(await planned(hourly.id, later.now() + HOUR))

  process.env.TZ = 'Asia/Tokyo'
  await later.advance(10_000)
  t.ok(await planned(daily.id, Date.UTC(2025, 11, 7, 9)), 'and in Tokyo, while it runs')
})

const never = { approval: { mode: 'never' } }

t.test('a single time runs once at its time, and "in" is counted from the start', async (t) => {
  const { tasks, events, schedule, to, slots, clock } = await scheduling(t)
  const at = await tasks.create('system info', { schedule: { once: '2026-01-05T11:30', timezone: 'Europe/Berlin' }, start: true, ...never })
  t.match(at, {
    taskType: 'one_shot',
    status: 'scheduled',
    nextRunAt: NOW + 90 * MINUTE,
    scheduleWords: 'once, on Monday, 5 January 2026 at 11:30'
  })
  const later = await tasks.create('system info', { schedule: { in: '2h' }, ...never })
  t.match(later, { status: 'planned', nextRunAt: undefined })
  await clock.advance(HOUR)
  t.match(await tasks.post(`/${later.id}/start`), { status: 'scheduled', nextRunAt: NOW + 3 * HOUR })
  t.same((await schedule(later.id)).upcoming, [NOW + 3 * HOUR])

  for (const { id, nextRunAt } of [at, { id: later.id, nextRunAt: NOW + 3 * HOUR }]) {
    await to(nextRunAt)
    t.match(await events.until('task:start', { taskId: id }), { runNumber: 1, startedAt: nextRunAt })
    await events.until('task:complete', { taskId: id })
    t.match(await tasks.get(`/${id}`), { status: 'completed', nextRunAt: undefined, totalRuns: 1 })
    t.match(await tasks.runs(id), [{ trigger: 'schedule', plannedAt: nextRunAt, standsFor: undefined }])
    t.same((await slots(id, 1)).map(fate), [[nextRunAt, 'run']])
  }
  t.same((await schedule(at.id)).upcoming, [], 'its time is over')
  const again = await tasks.call('POST', `/${at.id}/start`)
  t.match([again.status, again.body.error], [400, /in the past/])
  t.match(await tasks.call('POST', `/${later.id}/start`), { body: { status: 'scheduled', nextRunAt: NOW + 5 * HOUR } })
})

t.test('a time that was missed is made up for within a week, first and told how late; an older one waits for its person', async (t) => {
  const model = await heldModel(t)
  const { clock, tasks, restart, start } = await scheduling(t, model.parts)
  await start('of every day', { interval: 'daily' }, { plan })
  await start('of every week', { interval: 'weekly', on: 'tuesday' }, { plan })
  const once = (goal: string, at: string) =>
    tasks.create(goal, { schedule: { once: at, timezone: 'UTC' }, start: true, plan, ...never })
  const [early, late] = [await once('the early one', '2026-01-05T12:00'), await once('the late one', '2026-01-10T12:00')]
  const strict = await tasks.create('strict', { schedule: { in: '1h', graceMs: 0 }, start: true, plan })

  const { app, tasks: after, events, slots } = await restart(8 * DAY + HOUR)
  await model.begun(1)
  t.match(model.told[0], /the late one/, 'what is to be done once comes first')
  t.match(model.told[0], `planned for ${new Date(Date.UTC(2026, 0, 10, 12)).toString()}. It begins 3 days late`)
  model.finish(0)
  await events.until('task:complete', { taskId: late.id })
  t.match(await after.runs(late.id), [{ trigger: 'catch_up', standsFor: 1, plannedAt: Date.UTC(2026, 0, 10, 12), status: 'completed' }])

  for (const [task, at] of [[early, NOW + 3 * HOUR], [strict, NOW + HOUR]] as const) {
    t.same((await slots(task.id, 1)).map(fate), [[at, 'missed']])
    t.match(await after.get(`/${task.id}`), { status: 'scheduled', missedAt: at, nextRunAt: undefined, totalRuns: 0 })
  }
  const { approvals } = (await app.inject('/approvals?kind=task')).json()
  const waiting = (taskId: string) => approvals.find((each: { taskId: string }) => each.taskId === taskId)
  t.match(waiting(early.id), { text: /8 days late by now: the early one/, choices: [{ value: 'run' }, { value: 'cancel' }] })
  const choose = async (taskId: string, choice: string) =>
    (await app.inject({ method: 'POST', url: `/approvals/${waiting(taskId).approvalId}`, payload: { choice } })).statusCode
  t.equal(await choose(early.id, 'run'), 200)
  await model.begun(2)
  t.equal((await after.get(`/${early.id}`)).missedAt, undefined)
  t.equal(await choose(strict.id, 'cancel'), 200)
  t.match(await after.get(`/${strict.id}`), { status: 'cancelled', missedAt: undefined })
  t.same((await app.inject('/approvals?kind=task')).json().approvals, [])
  const moved = { schedule: { once: clock.now() + HOUR } }
  t.match((await after.call('PUT', `/${strict.id}`, moved)).body, { status: 'cancelled', schedule: moved.schedule })
  t.match((await after.call('POST', `/${strict.id}/start`)).body, { status: 'scheduled', nextRunAt: clock.now() + HOUR })
})

t.test('a machine that slept over a reminder gives it at once when it wakes', async (t) => {
  const real = fakeClock()
  let offset = 0
  const { tasks, events } = await scheduling(t, { clock: { ...real, now: () => real.now() + offset } })
  const { id } = await tasks.create('system info', { schedule: { in: '1h' }, start: true, ...never })
  offset += 2 * DAY
  await real.advance(10_000)
  await events.until('task:complete', { taskId: id })
  t.match(await tasks.runs(id), [{ trigger: 'catch_up', plannedAt: NOW + HOUR }])
  t.match(await tasks.get(`/${id}`), { status: 'completed' })
})

t.test('a pause keeps a run that waits for its time, and a run by hand takes its place', async (t) => {
  const { tasks, events, clock, slots } = await scheduling(t)
  const make = () => tasks.create('system info', { schedule: { once: '2026-01-05T10:00', timezone: 'UTC' }, start: true, ...never })
  const [soon, over, byHand, overByHand] = [await make(), await make(), await make(), await make()]
  for (const { id } of [soon, over, overByHand]) t.match(await tasks.post(`/${id}/pause`), { status: 'paused', nextRunAt: undefined })
  t.match(await tasks.post(`/${soon.id}/resume`), { status: 'scheduled', nextRunAt: NOW + HOUR })
  await tasks.call('POST', `/${byHand.id}/run`)
  await events.until('task:complete', { taskId: byHand.id })
  t.match(await tasks.get(`/${byHand.id}`), { status: 'completed', nextRunAt: undefined })

  await clock.advance(HOUR)
  await events.until('task:complete', { taskId: soon.id })
  await clock.advance(HOUR)
  await tasks.post(`/${over.id}/resume`)
  await events.until('task:complete', { taskId: over.id })
  t.match(await tasks.runs(over.id), [{ trigger: 'catch_up', plannedAt: NOW + HOUR }])
  t.equal((await tasks.runs(byHand.id)).length, 1)
  t.same((await slots(over.id, 1)).map(fate), [[NOW + HOUR, 'run']])
  await tasks.call('POST', `/${overByHand.id}/run`)
  await events.until('task:complete', { taskId: overByHand.id })
  t.same((await slots(overByHand.id, 1)).map(fate), [[NOW + HOUR, 'skipped', 'manual']])
  t.match((await tasks.get('/digest?since=0')).notRun.items, [{ text: /did not run at .*: a run by hand took its place\.$/ }])
})

t.test('what a preview says is what a task does that is made of it, for schedules and for texts', async (t) => {
  const { app, tasks } = await scheduling(t)
  const preview = async (payload: object) => (await app.inject({ method: 'POST', url: '/schedules/preview', payload })).json()
  const bodies: object[] = [
    { text: 'tomorrow at 5pm', timezone: 'America/New_York' },
    { text: 'in 90 minutes' },
    { text: 'every other friday at 9' },
    { text: 'every ten minutes between 9 and 17 on weekdays', timezone: 'Asia/Tokyo' },
    { text: '1st and 15th except 2026-01-15' },
    { text: '*/5 9-17 * * MON-FRI' },
    { schedule: { once: NOW + 5 } },
    { schedule: { interval: 'weekly', on: 'tuesday', at: '9 and 17', except: ['2026-01-06'], timezone: 'Europe/Berlin' } },
    { schedule: { interval: '2 days', startAt: NOW + DAY, maxRuns: 2 } }
  ]
  for (const body of bodies) {
    const { understood, schedule, words, zone, next } = await preview(body)
    t.ok(understood, JSON.stringify(body))
    const task = await tasks.create('system info', { schedule, start: true })
    t.same([task.nextRunAt, task.scheduleWords], [next[0], words])
    const { upcoming, words: shown } = await tasks.get(`/${task.id}/schedule?upcoming=5`)
    t.same([upcoming, shown], [next, words])
    t.equal(zone, (body as { timezone?: string }).timezone ?? schedule.timezone ?? machineTimezone())
  }
  for (const body of [{ text: 'every blue moon' }, { text: 'yesterday at 9' }, { schedule: { once: NOW - 1 } }, { schedule: {} },
    { text: 'daily', timezone: 'Mars/Base' }]) {
    t.match(await preview(body), { understood: false, reason: /.{30}/ }, JSON.stringify(body))
  }
  t.match(await preview({ text: 'every 10 seconds' }), { understood: true, confirm: /every 10 seconds, which is 8,640 times/ })
  const often = { 'every 15 minutes between 9 and 17 on weekdays': 33, '*/7 * * * *': 216, '*/50 * * * *': 48, '*/5 9 * * 1': 12 }
  for (const [text, times] of Object.entries(often)) {
    t.match(await preview({ text }), { understood: true, confirm: new RegExp(`, which is ${times} times a day`) }, text)
  }
  t.equal((await preview({ schedule: { interval: '10s' } })).confirm, undefined, 'an application that writes so means it')
  for (const body of [{}, { text: 'daily', schedule: { interval: 'daily' } }, { schedule: { interval: 'daily' }, timezone: 'UTC' }]) {
    t.match(await preview(body), { statusCode: 400, error: /either/ }, JSON.stringify(body))
  }
})
