import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { heldClock } from '../../harness/clock.ts'
import { effects } from '../../harness/effects.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { misbehavingWorkers } from './workers.ts'

const EFFECT = 'run `echo once >> effects.log`'
const WARM_UP_MS = 1_000
const IDLE_MS = 10 * 60_000

async function setUp (t: Test, of: { home?: string, cwd?: string } = {}) {
  const workers = misbehavingWorkers(t)
  const time = heldClock()
  const app = await build(t, { ...of, clock: time.clock })
  const tasks = await tasksOf(t, app)
  return { app, tasks, workers, time, events: await tasks.watch() }
}

const gone = async (worker: Worker) => worker.threadId === -1 || once(worker, 'exit')

t.test('a worker is started ahead when there is a task, serves one run, and is replaced', async (t) => {
  const { tasks, workers, events } = await setUp(t)
  t.same([workers.spare.size, workers.living.size], [0, 0])
  const { id } = await tasks.create(EFFECT, { taskType: 'triggered' })
  const first = await workers.started()
  t.equal(workers.living.size, 0)

  const served: Worker[] = []
  for (const runNumber of [1, 2]) {
    await tasks.post(`/${id}/run`)
    await events.until('task:tool-start')
    served.push(...workers.living)
    await events.until('task:complete', { runNumber })
    await workers.started()
  }
  t.equal(served[0], first)
  t.not(served[1], first)
  t.equal(first.threadId, -1, 'it has ended with its run')
  t.same([workers.spare.size, workers.living.size], [1, 0])
})

t.test('the warm-up starts a worker only when there is a task that may run', async (t) => {
  const first = await setUp(t)
  await first.app.tasks.warm()
  t.equal(first.workers.spare.size, 0)
  await first.tasks.create(EFFECT)
  await first.workers.started()
  await first.app.close()
  t.equal(first.workers.spare.size, 0, 'it ends with the service')

  const second = await setUp(t, { home: first.app.home, cwd: first.app.cwd })
  t.equal(second.workers.spare.size, 0)
  await second.time.pass(WARM_UP_MS)
  await second.workers.started()
})

t.test('a worker that died before its run, or at its beginning, loses no run', async (t) => {
  const { app, tasks, workers, events } = await setUp(t)
  const { id } = await tasks.create(EFFECT, { taskType: 'triggered' })
  const dead = await workers.started()
  await dead.terminate()
  await gone(dead)
  await tasks.post(`/${id}/run`)
  await events.until('task:complete', { runNumber: 1 })

  for (const dies of ['throw', 'exit']) {
    workers.let(dies)
    for (const worker of workers.spare) await gone(worker)
    await tasks.create(EFFECT)
    await workers.started()
    workers.let(undefined, { spareStays: true })
    await tasks.post(`/${id}/run`)
    await events.until('task:complete', { taskId: id })
  }
  t.match(await tasks.runs(id), Array(3).fill({ status: 'completed', attempts: 1 }))
  t.equal(effects(app.cwd), 'once\n'.repeat(3))
})

t.test('a worker that no run needs for ten minutes is ended, and the next task starts another one', async (t) => {
  const { tasks, workers, time } = await setUp(t)
  await tasks.create(EFFECT)
  const spare = await workers.started()
  await time.pass(IDLE_MS)
  await gone(spare)
  t.equal(workers.spare.size, 0)
  await tasks.create(EFFECT)
  t.not(await workers.started(), spare)
})

t.test('a service that closes while a worker is being started leaves none', async (t) => {
  const { app, tasks, workers } = await setUp(t)
  await tasks.create(EFFECT)
  await app.close()
  t.equal(workers.spare.size, 0)
})
