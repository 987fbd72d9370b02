import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const HOUR = 60 * 60_000
const phases = { plan: { phases: [{ description: 'read the notes' }, { description: 'write the summary' }] } }
const readIs = (status: string): Plan => ({ toolCalls: [{ toolName: 'updatePhase', input: { phase: 'phase-1', status } }] })
const write: Plan = { toolCalls: [{ toolName: 'writeFile', input: { path: 'summary.md', content: 'x' } }] }

/** A service with a clock that the test moves, and a task that ends after `ms`. */
async function withNight (t: Test, steps: Plan[], { ms = 8 * HOUR, ...fields }: { ms?: number, [field: string]: unknown } = {}) {
  const clock = fakeClock()
  const { app } = await withGateway(t, (_request, nth) => steps[nth] ?? { text: ['Done.'] }, { clock })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const endsAt = clock.now() + ms
  const task = await tasks.create('sum up the notes', { ...phases, approval: { mode: 'changes' }, endsAt, ...fields })
  const digest = () => tasks.get(`/digest?since=${endsAt - ms}`)
  return { app, clock, tasks, events, task, endsAt, digest, state: () => tasks.get(`/${task.id}`) }
}

t.test('a run that works at the end time of its task is stopped, and says what was done and what was not', async (t) => {
  const stalled: Plan = { text: ['a'], ending: 'stall', after: 1 }
  const { clock, tasks, events, task, endsAt, digest } = await withNight(t, [readIs('completed'), stalled], { ms: 20_000 })
  t.equal(task.endsAt, endsAt)
  await tasks.post(`/${task.id}/start`)
  await events.until('task:phase', { phase: 'write the summary', status: 'running' })
  await clock.advance(19_000)
  t.match(await tasks.get(`/${task.id}`), { status: 'running' })
  await clock.advance(1_001)
  const { error } = await events.until('task:error', { status: 'failed' })
  t.match(error, /^Stopped at its end time, \d{4}-\d\d-\d\d \d\d:\d\d\. Done: “read the notes”\. Not done: “write the summary”\.$/)
  t.match((await digest()).tasks.items, [{ taskId: task.id, runs: { items: [{ status: 'failed', error }] } }])
  t.match(await tasks.runs(task.id), [{ failure: { reason: 'time' } }])
  t.match(await tasks.get(`/${task.id}`), { status: 'failed' })

  const again = await tasks.call('POST', `/${task.id}/start`)
  t.match(again, { status: 409, body: { error: /^The end time of the task, .* is over\. PUT/ } })
  t.match(await tasks.call('PUT', `/${task.id}`, { endsAt }), { status: 400, body: { error: /which is over/ } })
  t.match(await tasks.call('PUT', `/${task.id}`, { endsAt: 0 }), { status: 200 })
  t.match(await tasks.call('POST', `/${task.id}/start`), { status: 200, body: { status: 'running' } })
})

t.test('a request expires with its task, which says what it waited for', async (t) => {
  const { app, clock, tasks, events, task, endsAt } = await withNight(t, [write])
  await tasks.post(`/${task.id}/start`)
  const { approvalId } = await events.until('task:approval')
  const open = async () => (await app.inject('/approvals')).json().approvals
  t.match(await open(), [{ approvalId, expiresAt: endsAt }])
  await clock.leap(12 * HOUR)
  const { error } = await events.until('task:error', { status: 'failed' })
  t.match(error, /It waited for an answer: .*summary\.md”\. Not done: “read the notes”, “write the summary”\.$/)
  t.same(await open(), [])
  const late = await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: true } })
  t.equal(late.statusCode, 410)
})

t.test('a result that nobody looked at by the end time stands', async (t) => {
  const { clock, tasks, events, task } = await withNight(t, [], { approval: { mode: 'always' } })
  await tasks.post(`/${task.id}/start`)
  await events.until('task:approval', { kind: 'result' })
  await clock.advance(9 * HOUR)
  await events.until('task:complete')
  t.match(await tasks.runs(task.id), [{ status: 'completed', review: 'expired' }])
  t.match(await tasks.get(`/${task.id}`), { status: 'completed' })
})

t.test('a task that was not begun by its end time is cancelled, and the digest says why it did not run', async (t) => {
  const { clock, events, task, endsAt, digest, state } = await withNight(t, [])
  await clock.advance(9 * HOUR)
  await events.until('task:status', { status: 'cancelled' })
  t.match(await state(), { status: 'cancelled' })
  const { tasks: { items }, notRun } = await digest()
  t.match(items, [{ taskId: task.id, passed: [{ fate: 'skipped', reason: 'ended', at: endsAt }] }])
  t.match(notRun.items[0].text, /did not run at .*: the end time of the task came\.$/)
})

t.test('a repeated task runs until its end time, also where the machine slept over it', async (t) => {
  const { clock, tasks, events, task, endsAt, digest, state } = await withNight(t, [], {
    taskType: 'recurring', schedule: { interval: '3h' }, approval: { mode: 'never' }
  })
  await tasks.post(`/${task.id}/start`)
  const next = async () => [(await tasks.get(`/${task.id}/schedule`)).upcoming, (await state()).nextRunAt]
  t.same(await next(), [[endsAt - 5 * HOUR, endsAt - 2 * HOUR], endsAt - 5 * HOUR], 'no time after its end is announced')
  await clock.advance(3 * HOUR + 1)
  await events.until('task:complete')
  await tasks.call('PUT', `/${task.id}`, { endsAt: endsAt - 3 * HOUR })
  t.same(await next(), [[], undefined], 'nor in the digest')
  t.same((await digest()).next.items, [])
  await tasks.call('PUT', `/${task.id}`, { endsAt })
  await clock.leap(12 * HOUR)
  await events.until('task:status', { status: 'completed' })
  t.equal((await state()).nextRunAt, undefined)
  const { slots } = await tasks.get(`/${task.id}/schedule`)
  t.match(slots.map(({ fate, reason = '' }: any) => `${fate} ${reason}`), [...Array(4).fill('skipped ended'), 'run '])
  t.match(await tasks.runs(task.id), { length: 1 })
  t.match(await tasks.call('POST', `/${task.id}/run`), { status: 409 }, `its time was over at ${endsAt}`)
})
