import t from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { heldModel } from '../harness/held-model.ts'
import { DAY, fate, HOUR, MINUTE, scheduling } from '../harness/schedules.ts'

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
