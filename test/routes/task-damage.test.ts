import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { damage } from '../services/store/rewrite.ts'
import { tasksOf } from '../harness/tasks.ts'
import { taskKey, runKey } from '../../services/store/keys.ts'

const hourly = { taskType: 'recurring', schedule: { interval: '1h' } }

/** A service that was closed and is there again after those records were damaged on the disk. */
async function again (t: Test, { home, cwd }: { home: string, cwd: string }, keys: string[]) {
  await damage(home, keys)
  const app = await build(t, { home, cwd })
  return { app, tasks: await tasksOf(t, app) }
}

t.test('a task that is damaged on the disk is named, holds up no other, and can be removed', async (t) => {
  const before = await build(t)
  const first = await tasksOf(t, before)
  const ids: string[] = []
  for (const goal of ['system info', 'list the files here', 'run `sleep 300`']) ids.push((await first.create(goal, hourly)).id)
  const [oldest, broken, newest] = ids
  for (const id of ids) await first.post(`/${id}/start`)
  const events = await first.watch()
  await first.post(`/${newest}/run`)
  await events.until('task:tool-start')
  await before.close()

  const { app, tasks } = await again(t, before, [taskKey(broken)])
  const page = await tasks.get('')
  t.same([page.tasks.map(({ id }: { id: string }) => id), page.damaged], [[newest, oldest], [broken]])
  t.match(await tasks.call('GET', `/${broken}`), {
    status: 500,
    body: { code: 'ERR_RECORD_DAMAGED', error: /"[-0-9a-f]{36}".* damaged.*DELETE \/tasks\/:id removes the task/ }
  })
  t.match((await app.inject('/health')).json(), { status: 'degraded', checks: { store: /damaged|repaired/, scheduler: /ok|starting/ } })
  const digest = await tasks.get('/digest?since=0')
  t.match(digest, { damaged: [broken], text: broken, next: { items: { length: 2 } } })
  t.match(await tasks.create('system info'), { status: 'planned' }, 'others are made')
  while ((await tasks.runs(newest))[0].completedAt === undefined) await new Promise(setImmediate)
  t.match(await tasks.runs(newest), [{ attempts: 2 }], 'what was under way of the newest goes on, though it comes behind the damaged one')
  const went = await tasks.watch()
  await tasks.post(`/${oldest}/run`)
  await went.until('task:complete', { taskId: oldest })

  t.same(await tasks.call('DELETE', `/${broken}`), { status: 200, body: { ok: true, taskId: broken } })
  t.notOk('damaged' in await tasks.get(''))
  t.equal((await tasks.call('GET', `/${broken}`)).status, 404)
})

t.test('a run that is damaged on the disk is named, and its task goes on without it', async (t) => {
  const before = await build(t)
  const first = await tasksOf(t, before)
  const events = await first.watch()
  const { id } = await first.create('system info', { taskType: 'triggered' })
  for (const runNumber of [1, 2]) {
    await first.post(`/${id}/run`)
    await events.until('task:complete', { runNumber })
  }
  const { id: asking } = await first.create('system info', { ...hourly, approval: { mode: 'always' } })
  await first.post(`/${asking}/start`)
  await first.post(`/${asking}/run`)
  await events.until('task:approval')
  const [{ runId }] = await first.runs(id)
  const [waiting] = await first.runs(asking)
  await before.close()

  const { tasks } = await again(t, before, [runKey(runId), runKey(waiting.runId)])
  t.match(await tasks.get(`/${id}/runs`), { runs: [{ runNumber: 1 }], damaged: [2] })
  t.match(await tasks.call('GET', `/${id}/runs/${runId}`), { status: 500, body: { error: /damaged and cannot be read/ } })
  t.match(await tasks.get('/digest?since=0'), { completed: { items: [{ runNumber: 1 }] } })
  await tasks.post(`/${id}/run`)
  while ((await tasks.runs(id))[0].completedAt === undefined) await new Promise(setImmediate)
  t.match(await tasks.runs(id), [{ runNumber: 3, status: 'completed' }, { runNumber: 1 }])

  while ((await tasks.runs(asking))[0]?.completedAt === undefined) await new Promise(setImmediate)
  t.match(
    await tasks.runs(asking),
    [{ runNumber: 1, status: 'interrupted', error: /cannot be read/ }],
    'what waited for a person can wait no more'
  )
  t.match(await tasks.get(`/${asking}`), { status: 'scheduled', waitingFor: undefined })
  for (const each of [id, asking]) t.equal((await tasks.call('DELETE', `/${each}`)).status, 200)
})
