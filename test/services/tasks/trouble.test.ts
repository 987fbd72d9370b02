import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { App } from '../../../app.ts'
import { RUNS, TASKS } from '../../../services/store/keys.ts'
import { RecordDamaged, StoreUnavailable } from '../../../services/store/store-errors.ts'
import type { ListOptions, Op } from '../../../services/store/store-types.ts'
import { effects } from '../../harness/effects.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { misbehavingWorkers } from './workers.ts'

const EFFECT = 'run `echo once >> effects.log`'
const isRun = (wanted: (run: any) => boolean) => (ops: Op[]) =>
  ops.some((op) => op.type === 'put' && op.key.startsWith(RUNS) && wanted(op.value))

/** The next batch of that kind meets `trouble` on its way to the disk. */
function troubled ({ store }: Pick<App, 'store'>, isMeant: (ops: Op[]) => boolean, trouble: () => Promise<void>) {
  const { transact } = store
  const met = Promise.withResolvers<void>()
  store.transact = async (ops) => {
    if (isMeant(ops)) {
      store.transact = transact
      met.resolve()
      await trouble()
    }
    return transact(ops)
  }
  return met.promise
}
const failing = async () => {
  throw new StoreUnavailable('it is full')
}

async function setUp (t: Test) {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  return { app, tasks, events: await tasks.watch() }
}

t.test('a run that the store would not let begin begins when it does', async (t) => {
  const { app, tasks, events } = await setUp(t)
  const { id } = await tasks.create(EFFECT)
  const met = troubled(app, isRun(({ status }) => status === 'running'), failing)
  await tasks.post(`/${id}/start`)
  await met
  await events.until('task:complete')
  t.match(await tasks.runs(id), [{ status: 'completed', attempts: 1 }])
})

t.test('a rehearsal ends when the store takes its end after all', async (t) => {
  const { app, tasks } = await setUp(t)
  const { id } = await tasks.create('system info')
  const met = troubled(app, isRun(({ completedAt }) => completedAt !== undefined), failing)
  const { runId } = await tasks.post(`/${id}/rehearse`)
  await met
  t.match((await app.inject(`/runs/${runId}?waitMs=10000`)).json(), { status: 'completed' })
  t.match((await tasks.call('POST', `/${id}/runs/${runId}/cancel`)), { status: 409 })
})

t.test('a run goes on when the store would not take that it was paused', async (t) => {
  const { app, tasks, events } = await setUp(t)
  const { id } = await tasks.create(`run \`sleep 1\` then ${EFFECT}`)
  await tasks.post(`/${id}/start`)
  await events.until('task:tool-start')
  void troubled(app, isRun(({ status }) => status === 'interrupted'), failing)
  t.match(await tasks.call('POST', `/${id}/pause`), { status: 503 })
  await events.until('task:complete')
  t.match(
    await tasks.runs(id),
    [{ status: 'completed', toolCalls: [{ error: /Outcome unknown/ }, { status: 'completed' }] }],
    'what was cut off stays in doubt'
  )
  t.equal(effects(app.cwd), 'once\n')
  t.equal(app.tasks.live, 0)
})

t.test('a step that is being written when its run is paused is there when it goes on', async (t) => {
  const workers = misbehavingWorkers(t)
  const { app, tasks, events } = await setUp(t)
  const { id } = await tasks.create(EFFECT)
  const written = Promise.withResolvers<void>()
  const met = troubled(app, isRun(({ steps }) => steps === 1), () => written.promise)
  await tasks.post(`/${id}/start`)
  await met
  const [worker] = workers.living
  const gone = once(worker, 'exit')
  const paused = tasks.post(`/${id}/pause`)
  await gone
  for (let n = 0; n < 20; n++) await turn()
  written.resolve()
  t.match(await paused, { status: 'paused' })
  await tasks.post(`/${id}/resume`)
  await events.until('task:complete')
  t.match(await tasks.runs(id), [{
    status: 'completed',
    attempts: 2,
    toolCount: 1,
    toolCalls: [{ toolName: 'runCommand', status: 'completed' }]
  }])
  t.equal(effects(app.cwd), 'once\n')
})

t.test('what begins while the service still looks for what was under way is begun once', async (t) => {
  const first = await build(t)
  const before = await tasksOf(t, first)
  const { id } = await before.create(`run \`sleep 0.5\` then ${EFFECT}`)
  await first.close()

  const app = await build(t, { home: first.home, cwd: first.cwd })
  const looked = Promise.withResolvers<void>()
  const { list } = app.store
  app.store.list = async function * (prefix: string, options?: ListOptions) {
    if (prefix === TASKS) await looked.promise
    yield * list<any>(prefix, options)
  } as typeof list
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  await tasks.post(`/${id}/start`)
  await events.until('task:tool-start')
  void troubled(app, isRun(({ crashes }) => crashes > 0), async () => {
    t.fail('a run that works is taken for one that was cut off')
  })
  looked.resolve()
  await events.until('task:complete')
  t.match(await tasks.runs(id), [{ attempts: 1, status: 'completed' }])
  t.equal(effects(app.cwd), 'once\n')
})

t.test('a run whose history is damaged is over, and its task can be used on', async (t) => {
  const { app, tasks, events } = await setUp(t)
  const { id } = await tasks.create(EFFECT)
  await tasks.post(`/${id}/start`)
  await tasks.post(`/${id}/pause`)
  const { list } = app.store
  app.store.list = async function * (prefix: string, options?: ListOptions) {
    if (prefix.startsWith('run-event/task/')) throw new RecordDamaged(prefix)
    yield * list<any>(prefix, options)
  } as typeof list
  await tasks.post(`/${id}/resume`)
  t.match(await events.until('task:error'), { status: 'interrupted', error: /cannot be read/ })
  t.equal((await tasks.get(`/${id}`)).status, 'failed')
  app.store.list = list
  await tasks.post(`/${id}/run`)
  await events.until('task:complete', { runNumber: 2 })
})

t.test('a run that takes the place of a paused one ends that', async (t) => {
  const { tasks, events } = await setUp(t)
  const { id } = await tasks.create('run `sleep 300`', { approval: { mode: 'never' } })
  await tasks.post(`/${id}/start`)
  await events.until('task:tool-start')
  await tasks.post(`/${id}/pause`)
  const { runId } = await tasks.post(`/${id}/run`)
  t.match(await events.until('task:error'), { status: 'cancelled', error: /in its place/ })
  t.not(events.of('task:error')[0].runId, runId)
  await tasks.post(`/${id}/cancel`)
  t.match(await tasks.runs(id), [{ runNumber: 2, status: 'cancelled' }, { runNumber: 1, status: 'cancelled', completedAt: Number }])
})

t.test('who listens is told that the run of a deleted task is over', async (t) => {
  const { tasks, events } = await setUp(t)
  const { id } = await tasks.create('run `sleep 300`')
  await tasks.post(`/${id}/start`)
  await events.until('task:tool-start')
  await tasks.call('DELETE', `/${id}`)
  t.match(await events.until('task:error'), { taskId: id, status: 'cancelled', error: 'The task was deleted.' })
})

t.test('a run whose folder is not there any more fails and says so, and makes nothing', async (t) => {
  const { app, tasks, events } = await setUp(t)
  const folder = `${app.cwd}/project`
  mkdirSync(folder)
  const { id } = await tasks.create('write "x" to a.txt', { approval: { mode: 'never' }, cwd: folder })
  rmSync(folder, { recursive: true })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:error'), { status: 'failed', error: `"${folder}" is not a folder` })
  t.notOk(existsSync(folder))
  await tasks.call('PUT', `/${id}`, { cwd: app.cwd })
  await tasks.post(`/${id}/start`)
  await events.until('task:complete')
})
