import t from 'tap'
import { machineTimezone } from '../../services/calendar/index.ts'
import { fakeClock } from '../harness/clock.ts'
import { heldModel } from '../harness/held-model.ts'
import { DAY, fate, HOUR, MINUTE, scheduling } from '../harness/schedules.ts'

const plan = { phases: [{ description: 'do it' }] }
/** Monday, 09:00 UTC. */
const NOW = Date.UTC(2026, 0, 5, 9)
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
  const [soon, over, byHand] = [await make(), await make(), await make()]
  for (const { id } of [soon, over]) t.match(await tasks.post(`/${id}/pause`), { status: 'paused', nextRunAt: undefined })
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
  t.match(await preview({ text: 'every 10 seconds' }), { understood: true, confirm: /every 10 seconds/ })
  t.equal((await preview({ schedule: { interval: '10s' } })).confirm, undefined, 'an application that writes so means it')
  for (const body of [{}, { text: 'daily', schedule: { interval: 'daily' } }, { schedule: { interval: 'daily' }, timezone: 'UTC' }]) {
    t.match(await preview(body), { statusCode: 400, error: /either/ }, JSON.stringify(body))
  }
})
