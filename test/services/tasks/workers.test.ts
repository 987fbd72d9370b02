import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { heldClock } from '../../harness/clock.ts'
import { effects } from '../../harness/effects.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { allGone, withArgument } from '../process/alive.ts'
import { misbehavingWorkers } from './workers.ts'

const MARKER = `left-behind-${process.pid}`
const EFFECT = 'run `echo once >> effects.log`'

async function setUp (t: Test) {
  const workers = misbehavingWorkers(t)
  const time = heldClock()
  const app = await build(t, { clock: time.clock })
  const tasks = await tasksOf(t, app)
  return { app, tasks, workers, time, events: await tasks.watch() }
}

const NONSENSE = /sent an invalid request/
const SAID = {
  throw: /died .*boom/,
  exit: /died \(exit code 7\)/,
  fill: /ran out of memory/,
  loop: /did nothing for 30 s/,
  null: NONSENSE,
  'an answer': NONSENSE,
  'another function': NONSENSE,
  'another method': NONSENSE,
  'no arguments': NONSENSE,
  flood: NONSENSE,
  'twice at once': NONSENSE,
  'done at once': /stopped before the run was complete/
}

t.test('whatever the worker of a run does, the service answers, the run is recorded as interrupted with a sentence, and its task can be ' +
  'used on', async (t) => {
  const { app, tasks, workers, time, events } = await setUp(t)
  for (const [what, said] of Object.entries(SAID)) {
    workers.let(what)
    const { id } = await tasks.create(EFFECT)
    await tasks.post(`/${id}/start`)
    await events.until('task:start', { taskId: id })
    if (what === 'loop') await time.pass(30_000)
    t.equal((await fetch(`${tasks.url}/health`)).status, 200, what)
    t.match(await events.until('task:error', { taskId: id }), { status: 'interrupted', error: said }, what)
    t.match(await tasks.runs(id), [{ status: 'interrupted', error: said, completedAt: Number }], what)
    t.equal((await tasks.get(`/${id}`)).status, 'failed', what)
    while (workers.living.size > 0) await once([...workers.living][0], 'exit')
    t.equal(app.tasks.live, 0, what)
  }
  t.ok(effects(app.cwd).length <= 'once\n'.length, 'two calls at once are no two effects')

  workers.let(undefined)
  const before = effects(app.cwd)
  const [{ id }] = (await tasks.get('')).tasks
  await tasks.post(`/${id}/run`)
  await events.until('task:complete', { taskId: id, runNumber: 2 })
  t.equal(effects(app.cwd), before + 'once\n')
})

t.test('a command ends with the worker it was run for, and is told as unknown; a recurring task goes on', {
  skip: process.platform !== 'linux'
}, async (t) => {
  const { tasks, workers, events } = await setUp(t)
  workers.let('dies in the middle')
  const task = await tasks.create(`run \`: ${MARKER}; sleep 300\``, { taskType: 'recurring', schedule: { interval: 'daily' } })
  await tasks.post(`/${task.id}/start`)
  await tasks.post(`/${task.id}/run`)
  await events.until('task:tool-start')
  let pids = withArgument(MARKER)
  while (pids.length === 0) {
    pids = await new Promise<number[]>((resolve) => {
      setImmediate(() => resolve(withArgument(MARKER)))
    })
  }
  for (const worker of workers.living) worker.postMessage('now')

  t.match(await events.until('task:error'), { status: 'interrupted', error: /exit code 7/ })
  await t.resolves(allGone(pids), 'no process of it is left')
  t.match(await tasks.runs(task.id), [{ toolCalls: [{ status: 'error', error: /Outcome unknown/ }] }])
  t.match(await tasks.get(`/${task.id}`), { status: 'scheduled', nextRunAt: Number })
})

t.test('what the worker of an earlier attempt still asks for is done by nobody', async (t) => {
  const { app, tasks, workers, events } = await setUp(t)
  const kept = workers.port()
  const { id } = await tasks.create(EFFECT)
  await tasks.post(`/${id}/start`)
  const port = await kept
  const answers: any[] = []
  port.on('message', (message) => answers.push(message))
  for (const [n, action] of ['next', 'step'].entries()) {
    port.postMessage({ t: 'q', i: String(n), m: 'call', a: [action] })
    await once(port, 'message')
  }
  const closed = once(port, 'close')
  await tasks.post(`/${id}/pause`)
  port.postMessage({ t: 'q', i: '3', m: 'call', a: ['settle'] })
  await closed
  t.equal(effects(app.cwd), '')

  await tasks.post(`/${id}/resume`)
  await events.until('task:complete')
  t.equal(effects(app.cwd), 'once\n')
  t.equal(answers.length, 2)
  t.match(await tasks.runs(id), [{ attempts: 2, toolCalls: [{ toolName: 'runCommand', status: 'completed' }] }])
})

const WARM_UP_MS = 1_000
const IDLE_MS = 10 * 60_000

async function setUpSpare (t: Test, of: { home?: string, cwd?: string } = {}) {
  const workers = misbehavingWorkers(t)
  const time = heldClock()
  const app = await build(t, { ...of, clock: time.clock })
  const tasks = await tasksOf(t, app)
  return { app, tasks, workers, time, events: await tasks.watch() }
}

const gone = async (worker: Worker) => worker.threadId === -1 || once(worker, 'exit')

t.test('a worker is started ahead when there is a task, serves one run, and is replaced', async (t) => {
  const { tasks, workers, events } = await setUpSpare(t)
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
  const first = await setUpSpare(t)
  await first.app.tasks.warm()
  t.equal(first.workers.spare.size, 0)
  await first.tasks.create(EFFECT)
  await first.workers.started()
  await first.app.close()
  t.equal(first.workers.spare.size, 0, 'it ends with the service')

  const second = await setUpSpare(t, { home: first.app.home, cwd: first.app.cwd })
  t.equal(second.workers.spare.size, 0)
  await second.time.pass(WARM_UP_MS)
  await second.workers.started()
})

t.test('a worker that died before its run, or at its beginning, loses no run', async (t) => {
  const { app, tasks, workers, events } = await setUpSpare(t)
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
  const { tasks, workers, time } = await setUpSpare(t)
  await tasks.create(EFFECT)
  const spare = await workers.started()
  await time.pass(IDLE_MS)
  await gone(spare)
  t.equal(workers.spare.size, 0)
  await tasks.create(EFFECT)
  t.not(await workers.started(), spare)
})

t.test('a service that closes while a worker is being started leaves none', async (t) => {
  const { app, tasks, workers } = await setUpSpare(t)
  await tasks.create(EFFECT)
  await app.close()
  t.equal(workers.spare.size, 0)
})

t.test('the steps of a run are bounded: the last model call is told so, and its calls do not run', async (t) => {
  // Two tools in turn: a run that goes on with one tool and finds nothing new is stopped earlier.
  const look = (nth: number) => ({
    toolCalls: [nth % 2 === 0
      ? { toolName: 'listDirectory', input: { path: '.', limit: nth + 1 } }
      : { toolName: 'readFile', input: { path: `notes-${nth}.txt` } }]
  })
  const { app, gateway } = await withGateway(t, (_request, nth) => look(nth))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('look around', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await events.until('task:error')

  const steps = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => body)
  t.equal(steps.length, 201)
  t.match(steps[200], { toolChoice: steps[0].toolChoice, tools: steps[0].tools })
  t.match(steps[200].prompt.at(-1), { role: 'user', content: [{ text: /used all your steps/ }] })
  t.notMatch(JSON.stringify(steps[199].prompt), /used all your steps/)
  const [run] = await tasks.runs(id)
  const { toolCalls } = await tasks.get(`/${id}/runs/${run.runId}`)
  t.match(toolCalls.at(-1), { status: 'error', error: /No tool is called any more/ })
})
