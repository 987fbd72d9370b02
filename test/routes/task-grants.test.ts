import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const TOKEN = 'correct horse'
const plan = { plan: { phases: [{ description: 'do it' }] } }
const write = (path: string, content = 'x'): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content } }] })
const run = (command: string): Plan => ({ toolCalls: [{ toolName: 'runCommand', input: { command } }] })
const say = (text: string): Plan => ({ text: [text] })

/** A service whose model makes these calls, one a step, in each run: those of the n-th run, or of the last one. */
async function withRuns (t: Test, runs: Plan[][], settings: Parameters<typeof withGateway>[2] = {}) {
  const systems: string[] = []
  const { app, gateway } = await withGateway(t, ({ body: { prompt } }) => {
    const steps = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    if (steps === 0) systems.push(prompt[0].content)
    const calls = runs[Math.min(systems.length, runs.length) - 1]
    return calls[steps] ?? say('That is all.')
  }, { token: TOKEN, ...settings })
  const tasks = await tasksOf(t, app, TOKEN)
  return { app, gateway, tasks, events: await tasks.watch(), systems, grants: grantsOf(app) }
}
const grantsOf = (app: Awaited<ReturnType<typeof build>>) => async (method: 'GET' | 'POST', url: string, payload?: object) =>
  (await app.inject({ method, url: `/grants${url}`, headers: { authorization: `Bearer ${TOKEN}` }, ...(payload && { payload }) })).json()
type Service = Awaited<ReturnType<typeof withRuns>>

/** Runs the task and approves all that it asks, its result too. */
async function approvedRun ({ tasks, events }: Pick<Service, 'tasks' | 'events'>, id: string): Promise<void> {
  await tasks.post(`/${id}/run`)
  for (;;) {
    const { kind } = await events.until('task:approval')
    await tasks.post(`/${id}/approve`, { approved: true })
    if (kind !== 'result') continue
    await events.until('task:complete')
    return
  }
}

t.test('after the first N, the very command goes unasked, and another one asks and says what differs', async (t) => {
  const service = await withRuns(t, [[run('echo x >> log')], [run('echo x >> log')], [run('echo y >> log')]])
  const { app, tasks, events, systems, grants } = service
  const { id } = await tasks.create('keep a log', { ...plan, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
  await approvedRun(service, id)
  t.match(await grants('GET', `?taskId=${id}`), {
    grants: [{ taskId: id, scope: 'exact', source: 'approved_runs', input: { command: 'echo x >> log' } }]
  })

  await tasks.post(`/${id}/run`)
  const { runId } = await events.until('task:complete')
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\nx\n')
  t.match(systems[1], /run at once; others that change something wait for the user:\n- runCommand with exactly .*echo x >> log/)
  t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [{ toolName: 'runCommand', grantId: /./ }])

  await tasks.post(`/${id}/run`)
  const asked = await events.until('task:approval')
  t.match(asked, { kind: 'tool', reason: /Approved runs used runCommand with exactly .*echo x.* This call is another one: .*echo y/ })
  const { waiting: { items: [{ text }] } } = await tasks.get('/digest?since=0')
  t.match(text, /asks whether it may use runCommand .*echo y.*Approved runs used/)
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\nx\n')
})

t.test('of files, the same file is learned with any content, and its folder once another name was approved', async (t) => {
  const service = await withRuns(t, [
    [write('notes/1.md')], [write('notes/1.md', 'again'), write('notes/2.md')], [write('notes/3.md'), write('notes/3.txt')]
  ])
  const { app, tasks, events } = service
  const { id } = await tasks.create('keep notes', { ...plan, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
  await approvedRun(service, id)
  await tasks.post(`/${id}/run`)
  t.match(await events.until('task:approval'), { kind: 'tool', input: { path: 'notes/2.md' } }, 'the first file goes unasked')
  t.equal(readFileSync(`${app.cwd}/notes/1.md`, 'utf8'), 'again')
  await tasks.post(`/${id}/approve`, { approved: true })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${id}/approve`, { approved: true })
  await events.until('task:complete')
  await tasks.post(`/${id}/run`)
  t.match(
    await events.until('task:approval'),
    { kind: 'tool', input: { path: 'notes/3.txt' } },
    'the folder goes unasked, another extension asks'
  )
  t.ok(existsSync(`${app.cwd}/notes/3.md`))
})

t.test('what is learned and given ends with the goal, and an answer to the old goal gives nothing', async (t) => {
  const service = await withRuns(t, [[run('echo x >> log')]])
  const { tasks, events, grants } = service
  const { id } = await tasks.create('keep a log', { ...plan, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
  await approvedRun(service, id)
  await grants('POST', '', { taskId: id, toolName: 'writeFile', input: { path: 'a.txt', content: '' }, scope: 'folder' })
  t.equal((await grants('GET', `?taskId=${id}`)).grants.length, 2)
  await tasks.call('PUT', `/${id}`, { goal: 'keep another log' })
  t.same((await grants('GET', '')).grants, [])

  await tasks.post(`/${id}/run`)
  await events.until('task:approval')
  await tasks.call('PUT', `/${id}`, { goal: 'keep a third log' })
  t.match(await tasks.call('POST', `/${id}/approve`, { approved: true, scope: 'exact' }), {
    status: 400,
    body: { error: /changed after this was asked/ }
  })
  t.match(await tasks.post(`/${id}/approve`, { approved: true }), { ok: true })
  await events.until('task:approval', { kind: 'result' })
  await grants('POST', '', { taskId: id, toolName: 'writeFile', input: { path: 'a.txt', content: '' }, scope: 'folder' })
  await tasks.call('DELETE', `/${id}`)
  t.same((await grants('GET', '')).grants, [])
})

t.test('a grant of an answer holds in the later runs of a task, also of one that always asks for results', async (t) => {
  const { tasks, events } = await withRuns(t, [[run('echo x >> log')]])
  const { id } = await tasks.create('keep a log', { ...plan, taskType: 'triggered', approval: { mode: 'always' } })
  await tasks.post(`/${id}/run`)
  await events.until('task:approval', { kind: 'tool' })
  await tasks.post(`/${id}/approve`, { approved: true, scope: 'exact' })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${id}/approve`, { approved: true })
  await tasks.post(`/${id}/run`)
  t.match(await events.until('task:approval'), { kind: 'result' })
})

t.test('a nightly task runs one granted command and nothing else, over a restart, and the digest tells it', async (t) => {
  const clock = fakeClock()
  const night = [run('echo tested >> log'), write('made.txt'), run('echo tested  >> log')]
  const { app, gateway, tasks, grants, systems } = await withRuns(t, [night], { clock })
  const { id } = await tasks.create('test at night', {
    ...plan,
    taskType: 'recurring',
    schedule: { interval: 'daily', at: '03:00' },
    approval: { mode: 'granted' }
  })
  await grants('POST', '', { taskId: id, toolName: 'runCommand', input: { command: 'echo tested >> log' }, scope: 'exact' })
  await tasks.post(`/${id}/start`)
  const oneNight = async (tasks: Service['tasks'], at: typeof clock) => {
    const events = await tasks.watch()
    // No further: a worker that starts slowly would be missed in the hours after it.
    await at.advance((await tasks.get(`/${id}`)).nextRunAt - at.now())
    const { runId } = await events.until('task:complete')
    t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [
      { status: 'completed', grantId: /./ },
      { status: 'denied', error: /no grant covers this call/ },
      { status: 'denied', error: /no grant covers this call/ }
    ])
  }
  await oneNight(tasks, clock)
  t.match(systems[0], /others that change something are denied, so do without them:\n- runCommand with exactly/)

  const { home, cwd } = app
  await app.close()
  const later = fakeClock(clock.now())
  const next = await build(t, { home, cwd, token: TOKEN, clock: later, gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
  const nextTasks = await tasksOf(t, next, TOKEN)
  await oneNight(nextTasks, later)
  t.equal(readFileSync(`${cwd}/log`, 'utf8'), 'tested\ntested\n')
  t.notOk(existsSync(`${cwd}/made.txt`))
  t.match((await grantsOf(next)('GET', `?taskId=${id}`)).grants, [{ uses: 2 }])
  await later.advance(2_000)
  const { completed: { items }, tasks: { items: [{ denied }] } } = await nextTasks.get('/digest?since=0')
  t.match(items[0].text, /completed .*\(1 call by grant, 2 others denied\)/)

  t.match(denied, [
    {
      toolName: 'writeFile',
      count: 2,
      grant: { taskId: id, scope: 'folder' },
      covers: /\*\.txt files in or below/,
      text: /2 calls of writeFile .* were denied/
    },
    { toolName: 'runCommand', count: 2, grant: { taskId: id, scope: 'exact', input: { command: 'echo tested  >> log' } } }
  ])
  for (const { grant } of denied) t.match(await grantsOf(next)('POST', '', grant), { taskId: id, source: 'request' })
  const { tasks: { items: [{ denied: [written] }] } } = await nextTasks.get('/digest?since=0')
  t.match(written, { isGranted: true, grant: undefined, text: /one does now/ }, 'what is granted now is not offered again')
  const events = await nextTasks.watch()
  await later.advance((await nextTasks.get(`/${id}`)).nextRunAt - later.now())
  const { runId } = await events.until('task:complete')
  t.match((await nextTasks.get(`/${id}/runs/${runId}`)).toolCalls, [
    { status: 'completed' },
    { status: 'completed', toolName: 'writeFile', grantId: /./ },
    { status: 'denied', toolName: 'runCommand', error: /no grant covers this call/ }
  ], 'as it says; the file that was written lets the command ask again')
})
