import t from 'tap'
import type { Slot } from '../../schemas/schedule.ts'
import { heldModel } from '../harness/held-model.ts'
import { DAY, fate, HOUR, MINUTE, scheduling } from '../harness/schedules.ts'

const plan = { phases: [{ description: 'do it' }] }

t.test('a time that comes while a run waits is skipped, and what is begun by hand leaves the schedule as it is', async (t) => {
  const { clock, tasks, events, start, to, slots, schedule } = await scheduling(t)
  const from = clock.now()
  const { id } = await start('write "x" to a.txt', { interval: '1h' }, { approval: { mode: 'always' } })
  await to(from + HOUR)
  const { runId } = await events.until('task:approval')
  await to(from + 2 * HOUR)
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'run'], [from + 2 * HOUR, 'skipped', 'waiting']])
  t.equal((await tasks.call('POST', `/${id}/run`)).status, 409)
  await tasks.post(`/${id}/approve`, { approved: false })
  await events.until('task:error', { runId })
  const ahead = { status: 'scheduled', nextRunAt: from + 3 * HOUR }
  t.match(await tasks.get(`/${id}`), ahead)

  const byHand = await tasks.post(`/${id}/run`)
  t.match(await tasks.get(`/${id}`), { status: 'running', nextRunAt: from + 3 * HOUR })
  await events.until('task:approval', { runId: byHand.runId })
  await tasks.post(`/${id}/approve`, { approved: false })
  await events.until('task:error', { runId: byHand.runId })
  t.match(await tasks.get(`/${id}`), ahead)
  t.match(await tasks.runs(id), [{ trigger: 'manual' }, { trigger: 'schedule' }])
  t.equal((await schedule(id)).slots.length, 2, 'it is no planned time')
})

t.test('a pause leaves no backlog: what passed meanwhile says so, and the schedule goes on from now', async (t) => {
  const { clock, tasks, events, start, to, slots, schedule } = await scheduling(t)
  const from = clock.now()
  const { id } = await start('system info', { interval: '1h' })
  t.equal((await tasks.post(`/${id}/pause`)).nextRunAt, undefined)
  await to(from + 2.5 * HOUR)
  t.same((await schedule(id)).slots, [])
  t.match(await tasks.post(`/${id}/resume`), { status: 'scheduled', nextRunAt: from + 3 * HOUR })
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'skipped', 'paused'], [from + 2 * HOUR, 'skipped', 'paused']])
  t.match((await tasks.get('/digest?since=0')).notRun.items, [{ taskId: id, text: /did not run at .*: the task was paused\.$/ }, {}])
  await to(from + 3 * HOUR)
  await events.until('task:complete')
  t.match(await tasks.runs(id), [{ trigger: 'schedule' }])
  t.equal((await tasks.runs(id)).length, 1)
})

t.test('a new schedule counts from now, also for a task that is paused', async (t) => {
  const { clock, tasks, start, to, slots, schedule } = await scheduling(t)
  const from = clock.now()
  const { id } = await start('system info', { interval: '1h', maxRuns: 3 })
  await to(from + 30 * MINUTE)
  t.match((await tasks.call('PUT', `/${id}`, { schedule: { interval: '20m', timezone: 'UTC' } })).body, {
    status: 'scheduled',
    nextRunAt: from + 50 * MINUTE
  })
  t.same((await schedule(id, '?upcoming=2')).upcoming, [from + 50 * MINUTE, from + 70 * MINUTE], 'maxRuns is gone with it')
  await tasks.post(`/${id}/pause`)
  await to(from + 55 * MINUTE)
  const changed = (await tasks.call('PUT', `/${id}`, { schedule: { interval: 'daily', timezone: 'UTC' } })).body
  t.match(changed, { status: 'paused', nextRunAt: undefined })
  t.same((await slots(id, 1)).map(fate), [[from + 50 * MINUTE, 'skipped', 'paused']])
  t.match(await tasks.post(`/${id}/resume`), { status: 'scheduled', nextRunAt: from + 24 * HOUR })
  t.match(await tasks.post(`/${id}/cancel`), { status: 'cancelled', nextRunAt: undefined })
  t.match((await tasks.call('PUT', `/${id}`, { schedule: { interval: 'hourly', timezone: 'UTC' } })).body, {
    status: 'cancelled',
    nextRunAt: undefined
  }, 'what is over stays so')
  t.match(await tasks.post(`/${id}/start`), { status: 'scheduled', nextRunAt: from + HOUR })
})

t.test('a task that fails five times in a row is failing: tried less often, and well again with its first success', async (t) => {
  const model = await heldModel(t)
  const { clock, app, tasks, events, start, leapTo, schedule } = await scheduling(t, model.parts)
  const from = clock.now()
  const { id } = await start('try', { interval: '1h' }, { plan })
  let runs = 0
  const run = async (hour: number, end: (n: number) => void) => {
    await leapTo(from + hour * HOUR)
    await model.begun(++runs)
    end(runs - 1)
  }
  const fails = async (hour: number) => {
    await run(hour, model.fail)
    await events.until('task:error', { status: 'failed' })
  }
  for (const hour of [1, 2, 3, 4]) await fails(hour)
  t.match(await tasks.get(`/${id}`), { health: { state: 'ok', failures: 4, since: undefined } })
  await run(5, () => {})
  await tasks.post(`/${id}/pause`)
  t.match(await tasks.runs(id), [{ status: 'interrupted' }])
  await tasks.post(`/${id}/resume`)
  t.match(await tasks.get(`/${id}`), { health: { failures: 4 } }, 'an interruption counts for nothing')
  await fails(6)
  const failing = { taskId: id, state: 'failing', failures: 5, since: from + 6 * HOUR, nextTryAt: from + 8 * HOUR }
  t.match(await events.until('task:health'), failing)
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', nextRunAt: from + 8 * HOUR, health: { state: 'failing', failures: 5 } })
  t.match((await tasks.get('/digest?since=0')).failing.items, [{ taskId: id, failures: 5, text: /has failed 5 times in a row/ }])
  t.match((await tasks.get(`/${id}/schedule?upcoming=2`)).upcoming, [from + 8 * HOUR, from + 9 * HOUR])

  for (const hour of [8, 12, 20, 36]) await fails(hour)
  t.match(await tasks.get(`/${id}`), { health: { failures: 9, nextTryAt: from + 60 * HOUR } })
  await tasks.post(`/${id}/run`)
  await model.begun(++runs)
  model.fail(runs - 1)
  await events.until('task:error', { status: 'failed' })
  t.match(await tasks.get(`/${id}`), { health: { failures: 10, nextTryAt: from + 60 * HOUR } }, 'by hand it is tried at any time')
  await fails(60)
  t.match(await tasks.get(`/${id}`), { health: { nextTryAt: from + 84 * HOUR } }, 'at least once a day')
  t.equal(events.of('task:health').length, 1, 'it is said once')
  const told = async () => (await app.inject('/notifications')).json().notifications
  t.match(await told(), [{ kind: 'failing', taskId: id }])
  await run(84, model.finish)
  t.match(await events.until('task:health'), { taskId: id, state: 'ok', failures: 0 })
  t.match((await told()).map(({ kind }: { kind: string }) => kind), ['recovered'])
  t.match(await tasks.get(`/${id}`), { nextRunAt: from + 85 * HOUR, health: { state: 'ok', failures: 0, nextTryAt: undefined } })
  const { slots } = await schedule(id, '?limit=100')
  const counts = Object.fromEntries(['run', 'skipped'].map((fate) => [fate, slots.filter((slot: Slot) => slot.fate === fate).length]))
  t.same(counts, { run: 12, skipped: 72 })
  t.same(slots.filter(({ reason }: Slot) => reason === 'failing').length, 72)
})

t.test('that a task is failing is over when its schedule or its time is', async (t) => {
  const model = await heldModel(t)
  const { clock, app, events, start, leapTo } = await scheduling(t, model.parts)
  const from = clock.now()
  const { id } = await start('try', { interval: '1h' }, { plan, endsAt: from + 6.5 * HOUR })
  for (let n = 0; n < 5; n++) {
    await leapTo(from + (n + 1) * HOUR)
    await model.begun(n + 1)
    model.fail(n)
    await events.until('task:error', { status: 'failed' })
  }
  const told = async () => (await app.inject('/notifications')).json().notifications
  t.match(await told(), [{ kind: 'failing', taskId: id }])
  await leapTo(from + 6.5 * HOUR)
  await events.until('task:status', { status: 'completed' })
  t.same(await told(), [])
})

t.test('a task whose last run is the fifth that fails is not told as one that keeps failing', async (t) => {
  const model = await heldModel(t)
  const { clock, app, events, start, leapTo } = await scheduling(t, model.parts)
  const from = clock.now()
  await start('try', { interval: '1h', maxRuns: 5 }, { plan })
  for (let n = 0; n < 5; n++) {
    await leapTo(from + (n + 1) * HOUR)
    await model.begun(n + 1)
    model.fail(n)
    await events.until('task:error', { status: 'failed' })
  }
  t.match((await app.inject('/tasks')).json().tasks, [{ status: 'completed' }])
  t.same((await app.inject('/notifications')).json().notifications, [])
})

t.test('a task that is failing for two weeks asks its person once what to do, and goes on until it is answered', async (t) => {
  const model = await heldModel(t)
  const { clock, app, tasks, events, start, leapTo } = await scheduling(t, model.parts)
  const from = clock.now()
  const ids: string[] = []
  for (const goal of ['keep', 'cancel', 'delete', 'well']) ids.push((await start(goal, { interval: '7d' }, { plan })).id)
  for (let week = 1, runs = 0; week <= 7; week++) {
    await leapTo(from + 7 * week * DAY)
    await model.begun(runs + ids.length)
    ids.forEach(() => model.fail(runs++))
    await events.ended(runs)
  }
  const inbox = async () => (await app.inject('/approvals?kind=task')).json().approvals
  let asked = await inbox()
  while (asked.length < ids.length) asked = await inbox()
  const of = (id: string) => asked.find(({ taskId }: { taskId: string }) => taskId === id)
  const [keep, cancel, gone, well] = ids
  t.match(of(keep), {
    kind: 'task',
    state: 'pending',
    about: 'failing',
    runId: undefined,
    expiresAt: undefined,
    text: /^This task has failed \d times in a row\. The last one: .*no/,
    choices: [{ value: 'keep', label: 'Keep trying' }, { value: 'pause' }, { value: 'cancel' }]
  })
  t.equal((await app.inject('/approvals')).json().approvals.length, ids.length, 'it is part of the whole list')
  const decide = async (id: string, payload: object) => {
    const response = await app.inject({ method: 'POST', url: `/approvals/${of(id).approvalId}`, payload })
    return { status: response.statusCode, body: response.json() }
  }
  t.match(await decide(keep, { choice: 'explode' }), { status: 400, body: { error: /"keep", "pause", "cancel"/ } })
  t.match(await decide(keep, { approved: true }), { status: 400 })
  t.match(await decide(keep, { choice: 'keep' }), { status: 200, body: { state: 'answered', taskId: keep, continued: false } })
  t.match(await decide(keep, { choice: 'keep' }), { status: 200 }, 'the same answer again')
  t.match(await decide(keep, { choice: 'cancel' }), { status: 409 }, 'the first answer counts')
  const failing = async () =>
    (await app.inject('/notifications')).json().notifications.filter(({ kind }: { kind: string }) => kind === 'failing')
      .map(({ taskId }: { taskId: string }) => taskId).toSorted()
  t.same(await failing(), ids.toSorted())
  await decide(cancel, { choice: 'cancel' })
  t.same(await failing(), [keep, gone, well].toSorted(), 'what is cancelled fails no more')
  t.match(await tasks.get(`/${cancel}`), { status: 'cancelled' })
  await tasks.call('DELETE', `/${gone}`)
  t.same(await failing(), [keep, well].toSorted())
  await tasks.post(`/${keep}/pause`)
  t.same(await failing(), [well])
  await tasks.post(`/${keep}/resume`)
  t.match(await decide(gone, { choice: 'keep' }), { status: 404 }, 'it is deleted with its task')

  await leapTo(from + 56 * DAY)
  await model.begun(30)
  const [first, second] = model.told[28].includes('well') ? [28, 29] : [29, 28]
  model.finish(first)
  model.fail(second)
  await events.ended(30)
  t.match(events.of('task:health').at(-1), { taskId: well, state: 'ok' })
  t.match(await decide(well, { choice: 'keep' }), { status: 409, body: { error: /withdrawn/ } }, 'it is well by itself')
  t.match(await tasks.get(`/${keep}`), { status: 'scheduled', health: { state: 'failing', failures: 8 } })
  t.same(await inbox(), [], 'it is asked once')
  const decided = (await app.inject('/approvals?state=decided&kind=task')).json().approvals
  const words = decided.map(({ choice, state }: { choice?: string, state: string }) => choice ?? state)
  t.same(words.toSorted(), ['cancel', 'keep', 'withdrawn'])
})

t.test('the last run of a schedule ends it, whatever comes between: a pause, or a run that was asked for meanwhile', async (t) => {
  const model = await heldModel(t)
  const { clock, tasks, events, start, to, schedule } = await scheduling(t, model.parts)
  const from = clock.now()
  const paused = await start('pause', { interval: '1h', maxRuns: 1 }, { plan })
  await to(from + HOUR)
  await model.begun(1)
  await tasks.post(`/${paused.id}/pause`)
  t.same((await schedule(paused.id)).upcoming, [])
  t.match(await tasks.post(`/${paused.id}/resume`), { status: 'completed', nextRunAt: undefined })

  const steered = await start('steer', { interval: '1h', maxRuns: 1 }, { plan })
  const cancelled = await start('cancel', { interval: '1h', maxRuns: 1 }, { plan })
  await to(from + 2 * HOUR)
  await model.begun(3)
  const first = model.told[1].includes('steer') ? 1 : 2
  for (const { id } of [steered, cancelled]) {
    t.match(await tasks.post(`/${id}/steer`, { comment: 'more', runNow: true }), { runTriggered: true })
  }
  const [live] = (await tasks.runs(cancelled.id)).filter(({ trigger }: { trigger: string }) => trigger === 'schedule')
  await tasks.post(`/${cancelled.id}/runs/${live.runId}/cancel`)
  await model.begun(4)
  model.finish(first)
  await model.begun(5)
  model.finish(3)
  model.finish(4)
  const over = () => events.of('task:status').filter(({ status, taskId }) => status === 'completed' && taskId !== paused.id).length
  while (over() < 2) await events.until('task:status')
  for (const { id } of [steered, cancelled]) t.match(await tasks.runs(id), [{ trigger: 'steer' }, { trigger: 'schedule' }])
})

for (const schedule of [{ once: '2026-01-05T10:00', timezone: 'UTC' }, { in: '1h' }]) {
  t.test(`a pause does not end the run of a single time, nor one that waits for a person: ${Object.keys(schedule)[0]}`, async (t) => {
    const model = await heldModel(t)
    const { clock, tasks, events, to } = await scheduling(t, model.parts)
    const from = clock.now()
    const { id } = await tasks.create('once', { schedule, start: true, plan, approval: { mode: 'always' } })
    await to(from + HOUR)
    await model.begun(1)
    await tasks.post(`/${id}/pause`)
    t.match(await tasks.call('POST', `/${id}/resume`), { status: 200, body: { status: 'running', nextRunAt: undefined } })
    await model.begun(2)
    model.finish(1)
    await events.until('task:approval')
    await tasks.post(`/${id}/pause`)
    t.match(await tasks.call('POST', `/${id}/resume`), { status: 200, body: { status: 'pending_approval', nextRunAt: undefined } })
    t.match(await tasks.post(`/${id}/approve`, { approved: true }), { status: 'completed' })
    t.match(await tasks.get(`/${id}`), { status: 'completed', totalRuns: 1 })
    t.match(await tasks.runs(id), [{ status: 'completed', attempts: 2 }])
  })
}

t.test('a pause while an earlier result waits, or during a run by hand, starts no schedule that is over or never began', async (t) => {
  const model = await heldModel(t)
  const { clock, tasks, events, start, to } = await scheduling(t, model.parts)
  const from = clock.now()
  const over = await start('end', { interval: '1h', maxRuns: 2 }, { plan, approval: { mode: 'always' } })
  for (const n of [1, 2]) {
    await to(from + n * HOUR)
    await model.begun(n)
    model.finish(n - 1)
    await events.until(n === 1 ? 'task:approval' : 'task:complete')
    await tasks.call('PUT', `/${over.id}`, { approval: { mode: 'never' } })
  }
  await tasks.post(`/${over.id}/pause`)
  t.match(await tasks.post(`/${over.id}/resume`), { status: 'pending_approval', nextRunAt: undefined })
  await tasks.post(`/${over.id}/approve`, { approved: true })
  t.match(await tasks.get(`/${over.id}`), { status: 'completed' })

  const planned = await tasks.create('not yet', { taskType: 'recurring', schedule: { interval: '1h' }, plan })
  for (const [n, [{ id }, status]] of ([[over, 'completed'], [planned, 'planned']] as const).entries()) {
    await tasks.post(`/${id}/run`)
    await model.begun(3 + n)
    await tasks.post(`/${id}/pause`)
    t.match(await tasks.post(`/${id}/resume`), { status, nextRunAt: undefined })
  }
})
