import t from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { decide, waiting } from '../harness/approval-doors.ts'
import { fate, HOUR, scheduling } from '../harness/schedules.ts'
import { again, begin, plan, say, withModel, write } from '../harness/task-approvals.ts'

const DAY = 24 * HOUR

t.test('a task that says nothing of approvals asks about what changes something, until three such runs were approved', async (t) => {
  const { tasks, events } = await withModel(t, [
    [{ toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }, say('There is nothing to do.')],
    [write('a.txt'), say('I may not write it.')],
    ...Array.from({ length: 4 }, () => [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'echo x >> log' } }] }, say('Done.')])
  ])
  const body = { goal: 'keep a log', taskType: 'triggered', ...plan }
  t.match((await tasks.call('POST', '', { ...body, options: { interactive: false } })).body, { approval: { mode: 'granted' } })
  const { body: { id, approval } } = await tasks.call('POST', '', body)
  t.same(approval, { mode: 'changes', firstN: 3, approvedRuns: 0 })
  const approvedRuns = async () => (await tasks.get(`/${id}`)).approval.approvedRuns
  const run = () => tasks.post(`/${id}/run`)
  const answer = async (kind: string, approved: boolean) => {
    await events.until('task:approval', { kind })
    await tasks.post(`/${id}/approve`, { approved })
  }

  await run()
  t.match(await events.until('task:complete'), { output: 'There is nothing to do.' })
  await run()
  await answer('tool', false)
  t.match(await events.until('task:complete'), { output: 'I may not write it.' }, 'what was denied has changed nothing')
  t.equal(await approvedRuns(), 0, 'neither run counts')
  for (const count of [1, 2, 3]) {
    await run()
    await answer('tool', true)
    await answer('result', true)
    await events.until('task:complete')
    t.equal(await approvedRuns(), count)
  }
  await run()
  await events.until('task:complete')
  t.equal(events.of('task:approval').length, 7, 'the last run asked nothing: the call was learned')
  t.match(await tasks.runs(id), [{}, { review: 'approved' }, { review: 'approved' }, { review: 'approved' }, {}, {}])
})

t.test('a result that waits stops no later run, and the next result takes its place', async (t) => {
  const { app, clock, tasks, events, start, to, slots } = await scheduling(t)
  const from = clock.now()
  const { id } = await start('system info', { interval: '1h' }, { approval: { mode: 'first_n', firstN: 2 } })
  await to(from + HOUR)
  const first = await events.until('task:approval', { kind: 'result' })
  const open = ({ approvalId }: any) => ({ status: 'scheduled', waitingFor: [{ kind: 'result', id: approvalId }] })
  t.match(await tasks.get(`/${id}`), { ...open(first), nextRunAt: from + 2 * HOUR, totalRuns: 1, successfulRuns: 0 })
  t.match(await tasks.runs(id), [{ status: 'pending_approval', questions: [{ approvalId: first.approvalId }] }])

  await to(from + 2 * HOUR)
  t.match(await events.until('task:complete', { runId: first.runId }), { status: 'completed', runNumber: 1 })
  const second = await events.until('task:approval', { kind: 'result' })
  t.match(await tasks.get(`/${id}`), { ...open(second), successfulRuns: 1, approval: { approvedRuns: 0 } })
  t.match(await tasks.runs(id), [{ status: 'pending_approval', review: undefined }, { status: 'completed', review: 'superseded' }])
  t.same((await waiting(app)).map(({ approvalId }: any) => approvalId), [second.approvalId])
  const late = { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN', error: /run 2 took its place: decide .*/ } }
  const answers = [await decide(app, first.approvalId, { approved: true }), await decide(app, first.approvalId, { approved: false })]
  for (const answer of answers) {
    t.match(answer, late)
    t.match(answer.body.error, second.approvalId, 'it names the newer one')
  }

  t.equal((await tasks.call('POST', `/${id}/run`)).status, 202, 'a run by hand is accepted, too')
  const third = await events.until('task:approval', { kind: 'result' })
  t.match(await tasks.get(`/${id}`), open(third))
  t.match((await decide(app, first.approvalId, { approved: true })).body.error, third.approvalId, 'of two newer ones the newest')
  t.match(await tasks.post(`/${id}/approve`, { approved: true }), { approvalId: third.approvalId, status: 'completed' })
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', waitingFor: undefined, approval: { approvedRuns: 1 }, successfulRuns: 3 })
  t.match((await decide(app, first.approvalId, { approved: true })).body.error, /run 2 took its place, which does not wait any more/)
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'run'], [from + 2 * HOUR, 'run']])
  t.match((await tasks.get('/digest?since=0')).completed.items.map(({ text }: any) => text), [
    /^Run 3 .* completed \(not judged\): /,
    /^Run 2 .* completed \(not judged\), its result unseen: /,
    /^Run 1 .* completed \(not judged\), its result unseen: /
  ])
})

t.test('a result that nobody answers is completed in the end, of a task that runs once too; a rejected one is not', async (t) => {
  const clock = fakeClock()
  const { tasks, events, app } = await begin(t, { clock, config: { tasks: { approvalTtl: DAY } } })
  const [once, triggered, rejected] = [
    await tasks.create('system info', { approval: { mode: 'always' } }),
    await tasks.create('system info', { taskType: 'triggered', approval: { mode: 'always' } }),
    await tasks.create('system info', { taskType: 'triggered', approval: { mode: 'always' } })
  ]
  await tasks.post(`/${once.id}/start`)
  const { approvalId } = await events.until('task:approval', { taskId: once.id })
  for (const { id } of [triggered, rejected]) {
    await tasks.post(`/${id}/run`)
    await events.until('task:approval', { taskId: id })
  }
  t.match(await tasks.get(`/${once.id}`), { status: 'pending_approval' }, 'it would be over, so it waits')
  t.equal((await tasks.call('POST', `/${once.id}/run`)).status, 409)
  t.match(await tasks.post(`/${rejected.id}/approve`, { approved: false, notes: 'no' }), { status: 'rejected' })
  const second = await again(t, app, { clock: fakeClock(clock.now() + 2 * DAY), config: { tasks: { approvalTtl: DAY } } })
  while ((await second.tasks.get(`/${triggered.id}`)).waitingFor !== undefined) await new Promise(setImmediate)
  while ((await second.tasks.get(`/${once.id}`)).status !== 'completed') await new Promise(setImmediate)
  for (const { id } of [once, triggered]) {
    t.match(await second.tasks.runs(id), [{ status: 'completed', review: 'expired' }])
    t.match(await second.tasks.get(`/${id}`), { successfulRuns: 1, approval: { approvedRuns: 0 }, approvalHistory: [{ expired: true }] })
  }
  t.match(await decide(second.app, approvalId, { approved: true }), { status: 410, body: { error: /expired/ } })
  t.match(await second.tasks.runs(rejected.id), [{ status: 'rejected', review: 'rejected', error: /no/ }])
})

t.test('the last run of a schedule waits for its own result, or for that of an earlier one, before the task is completed', async (t) => {
  const { clock, tasks, events, start, to } = await scheduling(t)
  const from = clock.now()
  const always = { approval: { mode: 'always' } }
  const last = await start('system info', { interval: '1h', maxRuns: 1 }, always)
  const earlier = await start('system info', { interval: '1h', maxRuns: 2 }, always)
  await to(from + HOUR)
  await events.until('task:approval', { taskId: last.id })
  t.match(await tasks.get(`/${last.id}`), { status: 'pending_approval', nextRunAt: undefined })
  t.match(await tasks.post(`/${last.id}/approve`, { approved: true }), { status: 'completed' })
  t.match(await tasks.get(`/${last.id}`), { status: 'completed' })

  while ((await tasks.get(`/${earlier.id}`)).waitingFor === undefined) await new Promise(setImmediate)
  await tasks.call('PUT', `/${earlier.id}`, { approval: { mode: 'never' } })
  await to(from + 2 * HOUR)
  await events.until('task:complete', { taskId: earlier.id })
  t.match(await tasks.get(`/${earlier.id}`), { status: 'pending_approval', waitingFor: [{ kind: 'result' }] })
  await tasks.post(`/${earlier.id}/pause`)
  t.match(await tasks.post(`/${earlier.id}/resume`), { status: 'pending_approval' })
  t.match(await tasks.post(`/${earlier.id}/cancel`), { status: 'cancelled' })
  t.match(await tasks.runs(earlier.id), [{ status: 'completed', review: undefined }, { status: 'cancelled', review: undefined }])
})

t.test('times that pass while a question waits are one line that says since when, also over a restart', async (t) => {
  const first = await scheduling(t)
  const from = first.clock.now()
  const { id } = await first.start('write "x" to a.txt', { interval: '1h' }, { approval: { mode: 'always' } })
  await first.to(from + HOUR)
  await first.events.until('task:approval', { kind: 'tool' })
  t.match(await first.tasks.get(`/${id}`), { status: 'pending_approval' })
  const line = async ({ schedule }: Pick<typeof first, 'schedule'>, count: number) => {
    for (;;) {
      const { slots: [newest, ...others] } = await schedule(id)
      if ((newest.count ?? 1) >= count && newest.fate === 'skipped') return [newest, others.length]
    }
  }
  await first.to(from + 2 * HOUR)
  const waits = { fate: 'skipped', reason: 'waiting', since: from + HOUR }
  t.match(await line(first, 1), [{ at: from + 2 * HOUR, from: undefined, ...waits }, 1])
  await first.to(from + 3 * HOUR)
  t.match(await line(first, 2), [{ from: from + 2 * HOUR, at: from + 3 * HOUR, count: 2, ...waits }, 1])
  const second = await first.restart(40 * HOUR)
  t.match(await line(second, 42), [{ from: from + 2 * HOUR, at: from + 43 * HOUR, count: 42, ...waits }, 1])
  const { notRun } = await second.tasks.get('/digest?since=0')
  t.equal(notRun.items.length, 1)
  t.match(notRun.items[0].text, /did not run 42 times from .* to .*: it has waited for you since /)
  await second.tasks.post(`/${id}/approve`, { approved: false })
  await second.events.until('task:error')
  t.match(await second.tasks.get(`/${id}`), { status: 'scheduled', nextRunAt: from + 44 * HOUR })
})
