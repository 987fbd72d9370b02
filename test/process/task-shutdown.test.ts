import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { allGone, withArgument } from '../services/process/alive.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

const WITHIN_MS = 5_000
const marker = (n: number) => `cut-off-${process.pid}-${n}`
const waiting = (n: number) => ({ toolCalls: [{ toolName: 'runCommand', input: { command: `: ${marker(n)}; trap '' TERM; sleep 300` } }] })
const STEPS = [...[0, 1, 2].map(waiting), { toolCalls: [{ toolName: 'runCommand', input: { command: 'echo' } }] }, { text: 'done' }]

function place (t: Test, script: object[]) {
  const config = (script: object[]) => JSON.stringify({ model: 'offline/scripted', offline: { script } })
  const dir = t.testdir({ home: { 'config.json': config(script) }, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work`, change: (script: object[]) => writeFileSync(`${dir}/home/config.json`, config(script)) }
}

/** A service whose task's run is at a command; the task is made when there is none. */
async function atWork (t: Test, where: ReturnType<typeof place>, begin = false) {
  const service = await startService(t, where)
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  if (begin) await tasks.post(`/${(await tasks.create('go')).id}/start`)
  const [task] = (await tasks.get('')).tasks
  return { service, tasks, events, task }
}

/** Resolves once the n-th command of the run is at work: the service may have begun it before anybody could listen. */
async function running ({ tasks, events, task }: Awaited<ReturnType<typeof atWork>>, n: number) {
  for (;;) {
    const seen = events.events.length
    const [run] = await tasks.runs(task.id)
    if (run?.toolCalls[n]?.status === 'pending' && withArgument(marker(n)).length > 0) return run
    if (run?.completedAt !== undefined) throw new Error(`it is over: ${JSON.stringify(run)}`)
    await Promise.race([events.beyond(seen), new Promise((resolve) => setTimeout(resolve, 20))])
  }
}

async function over (tasks: Awaited<ReturnType<typeof tasksOf>>, events: Awaited<ReturnType<typeof atWork>>['events'], id: string) {
  for (let seen = events.events.length; (await tasks.get(`/${id}`)).status === 'running'; seen = events.events.length) {
    await events.beyond(seen)
  }
}

async function timed (service: Sidecar) {
  const begun = performance.now()
  return { ...await service.stop(), ms: performance.now() - begun }
}

t.test(
  'a run is put down by every shutdown, goes on at every start, and is never given up for it',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const where = place(t, STEPS)
    for (let life = 0; life < 3; life++) {
      const at = await atWork(t, where, life === 0)
      t.match(await running(at, life), { status: 'running', attempts: life + 1 })
      const pids = withArgument(marker(life))
      const { code, ms } = await timed(at.service)
      t.equal(code, 0)
      t.ok(ms < WITHIN_MS, `${ms} ms`)
      t.notMatch(at.service.log(), /did not close/)
      await t.resolves(allGone(pids, 0), 'no process of it is left')
      t.equal(at.events.of('task:error').length, 0, 'that is no end')
    }
    const { tasks, events, task } = await atWork(t, where)
    await over(tasks, events, task.id)
    t.match(await tasks.runs(task.id), [{
      status: 'completed',
      attempts: 4,
      toolCalls: [...Array(3).fill({ status: 'error', error: /Outcome unknown/ }), { status: 'completed' }]
    }])
  }
)

t.test('a run under which the service dies three times is given up', { skip: process.platform !== 'linux' }, async (t) => {
  const where = place(t, STEPS)
  for (let life = 0; life < 3; life++) {
    const at = await atWork(t, where, life === 0)
    await running(at, life)
    await at.service.stop('SIGKILL')
  }
  const { tasks, events, task } = await atWork(t, where)
  await over(tasks, events, task.id)
  t.match(
    await tasks.runs(task.id),
    [{ status: 'interrupted', error: /ended 3 times while this run was executing/, completedAt: Number, toolCount: 3 }]
  )
  t.equal((await tasks.get(`/${task.id}`)).status, 'failed')
})

t.test('a model is told that the run goes on, and of the call that a kill has cut off', async (t) => {
  const prompts: string[] = []
  const gateway = await startFakeGateway({
    reply ({ body, structured }) {
      if (structured !== undefined) return
      const prompt = JSON.stringify(body.prompt)
      prompts.push(prompt)
      return prompts.length === 1 ? waiting(9) : { text: 'It was looked at.' }
    }
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ home: { 'config.json': '{"model": "test/model"}' }, work: {} })
  const start = () =>
    startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: gateway.url } })
  const service = await start()
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  const { id } = await tasks.create('go', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await events.until('task:tool-start')
  await service.stop('SIGKILL')

  const again = await tasksOf(t, await start())
  await over(again, await again.watch(), id)
  t.notMatch(prompts[0], /Outcome unknown|goes on now/)
  t.match(prompts[1], /"toolName":"runCommand".*Outcome unknown: this call was interrupted/)
  t.match(prompts[1], /This run was interrupted and goes on now/)
  t.match(await again.runs(id), [{ runNumber: 1, attempts: 2, toolCount: 1 }])
})

t.test('a shutdown finds runs at work and in the queue, and all of them are there at the next start', async (t) => {
  const where = place(t, [{ text: 'word '.repeat(3000), chunkMs: 20 }])
  const { service, tasks, events } = await atWork(t, where)
  const made = await Promise.all(Array.from({ length: 6 }, (_, n) => tasks.create(`talk ${n}`)))
  await Promise.all(made.map(({ id }) => tasks.post(`/${id}/start`)))
  for (let n = 0; n < 4; n++) await events.until('task:phase', { status: 'running' })
  const { code, ms } = await timed(service)
  t.equal(code, 0)
  t.ok(ms < WITHIN_MS, `${ms} ms`)

  where.change([{ text: 'done' }])
  const again = await atWork(t, where)
  for (const { id } of made) {
    await over(again.tasks, again.events, id)
    t.match(await again.tasks.runs(id), [{ runNumber: 1, status: 'completed' }])
  }
  t.match(await again.service.stop(), { code: 0 })
})
