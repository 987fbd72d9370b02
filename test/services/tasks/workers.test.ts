import { once } from 'node:events'
import t, { type Test } from 'tap'
import { heldClock } from '../../harness/clock.ts'
import { effects } from '../../harness/effects.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
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
