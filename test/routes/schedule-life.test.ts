import t from 'tap'
import { heldModel } from '../harness/held-model.ts'
import { fate, HOUR, MINUTE, scheduling } from '../harness/schedules.ts'

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

t.test('five failures in a row pause a task with their reason, until it is resumed; interruptions count for nothing', async (t) => {
  const model = await heldModel(t)
  const { clock, tasks, events, start, to, slots } = await scheduling(t, model.parts)
  const from = clock.now()
  const { id } = await start('try', { interval: '1h' }, { plan })
  for (let n = 1; n <= 4; n++) {
    await to(from + n * HOUR)
    await model.begun(n)
    model.fail(n - 1)
    await events.until('task:error', { status: 'failed' })
  }
  await to(from + 5 * HOUR)
  await model.begun(5)
  await tasks.post(`/${id}/pause`)
  await events.until('task:status', { status: 'paused' })
  t.match(await tasks.runs(id), [{ status: 'interrupted' }])
  t.match(await tasks.post(`/${id}/resume`), { status: 'scheduled', pausedReason: undefined })

  await to(from + 6 * HOUR)
  await model.begun(6)
  model.fail(5)
  await events.until('task:status', { status: 'paused' })
  const halted = { status: 'paused', pausedReason: 'failures', nextRunAt: undefined }
  t.match(await tasks.get(`/${id}`), { ...halted, totalRuns: 6 })
  await to(from + 8 * HOUR)
  await tasks.post(`/${id}/run`)
  await model.begun(7)
  model.fail(6)
  await events.until('task:error', { status: 'failed', taskId: id })
  t.match(await tasks.get(`/${id}`), halted, 'by hand it is tried without being resumed')
  t.match(await tasks.post(`/${id}/resume`), { status: 'scheduled', nextRunAt: from + 9 * HOUR })
  t.same((await slots(id, 8)).map(({ fate, reason }) => reason ?? fate), [...Array(6).fill('run'), 'paused', 'paused'])
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
