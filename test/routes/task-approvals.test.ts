import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, say as chat } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { again, begin, plan, say, withModel, write } from '../harness/task-approvals.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const DAY = 86_400_000

t.test('questions about a tool and about a result outlive restarts, and the tool runs once', async (t) => {
  const first = await begin(t)
  const task = await first.tasks.create('run `echo x >> log`', { approval: { mode: 'always' } })
  await first.tasks.post(`/${task.id}/start`)
  const { approvalId } = await first.events.until('task:approval', { kind: 'tool' })

  const second = await again(t, first.app)
  t.match(await second.tasks.get(`/${task.id}`), { status: 'pending_approval' })
  t.match(await second.tasks.runs(task.id), [{
    status: 'pending_approval',
    attempts: 1,
    questions: [{ approvalId, kind: 'tool', toolName: 'runCommand', input: { command: 'echo x >> log' } }]
  }])
  t.notOk(existsSync(`${first.app.cwd}/log`))
  t.match(await second.tasks.post(`/${task.id}/approve`, { approved: true, approvalId }), { status: 'running' })
  const { output } = await second.events.until('task:approval', { kind: 'result' })

  const third = await again(t, second.app)
  t.match(await third.tasks.runs(task.id), [{ status: 'pending_approval', output, questions: [{ kind: 'result', output }] }])
  t.match(await third.tasks.post(`/${task.id}/approve`, { approved: true }), { status: 'completed' })
  t.match(await third.events.until('task:complete'), { output })
  t.equal(readFileSync(`${first.app.cwd}/log`, 'utf8'), 'x\n')
  t.match(await third.tasks.get(`/${task.id}`), {
    status: 'completed',
    approvalHistory: [{ kind: 'tool', approved: true }, { kind: 'result', approved: true }]
  })
})

t.test('a question that nobody answers in time ends its run as rejected, of a paused task too', async (t) => {
  const clock = fakeClock()
  const { tasks, events, app } = await begin(t, { clock, config: { tasks: { approvalTtl: DAY } } })
  const [task, paused] = [
    await tasks.create('write "x" to a.txt', { approval: { mode: 'always' } }),
    await tasks.create('write "x" to b.txt', { taskType: 'triggered', approval: { mode: 'always' } })
  ]
  await tasks.post(`/${task.id}/start`)
  const { approvalId } = await events.until('task:approval')
  await tasks.post(`/${paused.id}/run`)
  await events.until('task:approval', { taskId: paused.id })
  await tasks.post(`/${paused.id}/pause`)
  await clock.advance(DAY - 1000)
  t.match(await tasks.get(`/${task.id}`), { status: 'pending_approval' })
  await clock.advance(1000)
  const ends = await events.ends(2)
  for (const end of ends) t.match(end, { type: 'task:error', status: 'rejected', error: /Nobody answered within 1 day/ })
  t.match(await tasks.get(`/${task.id}`), { status: 'planned', approvalHistory: [{ approvalId, approved: false, expired: true }] })
  t.match(await tasks.get(`/${paused.id}`), { status: 'paused', approvalHistory: [{ expired: true }] })
  t.equal((await tasks.call('POST', `/${task.id}/approve`, { approved: true, approvalId })).status, 410, 'it is too late')
  t.notOk(existsSync(`${app.cwd}/a.txt`))
})

t.test('what nobody answered while the service was away is over when it starts, and its schedule goes on', async (t) => {
  const first = await begin(t, { clock: fakeClock(), config: { tasks: { approvalTtl: DAY } } })
  const task = await first.tasks.create('write "x" to a.txt', {
    taskType: 'recurring',
    schedule: { interval: 'monthly' },
    approval: { mode: 'always' }
  })
  await first.tasks.post(`/${task.id}/start`)
  await first.tasks.post(`/${task.id}/run`)
  await first.events.until('task:approval')
  const second = await again(t, first.app, { clock: fakeClock(first.app.clock.now() + 2 * DAY) })
  while ((await second.tasks.get(`/${task.id}`)).status !== 'scheduled') await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await second.tasks.runs(task.id), [{ status: 'rejected', error: /Nobody answered/ }])
})

t.test('what is said with a rejection is told to the next run: of a tool and of a result', async (t) => {
  const { tasks, events, systems, app } = await withModel(t, [[write('a.txt'), say('It was denied.')], [
    write('b.txt'),
    say('b.txt is there.')
  ], [say('I see.')]])
  const task = await tasks.create('keep notes', { ...plan, taskType: 'triggered', approval: { mode: 'always' } })
  const run = async () => tasks.post(`/${task.id}/run`)
  await run()
  await events.until('task:approval')
  await tasks.post(`/${task.id}/approve`, { approved: false, notes: 'call it b.txt' })
  // The run goes on without the tool, and what came of it is looked at, too.
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${task.id}/approve`, { approved: false })
  t.match(await events.until('task:error'), { status: 'rejected', error: /rejected the result/ })
  await run()
  await events.until('task:approval', { kind: 'tool' })
  await tasks.post(`/${task.id}/approve`, { approved: true })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${task.id}/approve`, { approved: false, notes: 'too short' })
  t.match(await events.until('task:error'), { status: 'rejected', error: /too short/ })
  await run()
  await events.until('task:approval', { kind: 'result' })
  t.notMatch(systems[0], 'rejected')
  t.match(systems[1], 'rejected: call it b.txt')
  t.match(systems[2], /rejected: call it b\.txt[^]*rejected: too short/)
  t.same([existsSync(`${app.cwd}/a.txt`), existsSync(`${app.cwd}/b.txt`)], [false, true])
  t.match(await tasks.get(`/${task.id}`), { approval: { approvedRuns: 0 }, successfulRuns: 0 })
})

t.test('a call that the user denied is refused when the run repeats it, and asked about again in the next run', async (t) => {
  const { tasks, events, app } = await withModel(t, [
    [write('a.txt'), write('a.txt'), say('I may not write it.')],
    [write('a.txt'), say('a.txt is there.')]
  ])
  const task = await tasks.create('keep notes', { ...plan, taskType: 'triggered', approval: { mode: 'always' } })
  const { runId } = await tasks.post(`/${task.id}/run`)
  await events.until('task:approval', { kind: 'tool' })
  await tasks.post(`/${task.id}/approve`, { approved: false })
  await events.until('task:approval', { kind: 'result' })
  t.match(await tasks.get(`/${task.id}/runs/${runId}`), {
    questions: [{ kind: 'result' }],
    toolCalls: [{ status: 'denied' }, { status: 'denied', error: /denied this very call/ }]
  })
  await tasks.post(`/${task.id}/approve`, { approved: false })
  await events.until('task:error')
  await tasks.post(`/${task.id}/run`)
  await events.until('task:approval', { kind: 'tool' })
  t.notOk(existsSync(`${app.cwd}/a.txt`))
})

t.test('a model whose question is answered late is told how late, and what day it is, in a task and in a conversation', async (t) => {
  const clock = fakeClock()
  const prompts: any[] = []
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    prompts.push(prompt)
    return prompt.some(({ role }: { role: string }) => role === 'tool') ? say('Done.') : write('a.txt')
  }, { clock })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  // Behind the results; the list of the denied calls follows it.
  const toldLate = () => {
    const prompt = prompts.at(-1)!
    const last = prompt.findLastIndex(({ role }: { role: string }) => role === 'tool')
    return JSON.stringify(prompt.slice(last + 1)).includes('The user answered only after')
  }
  const task = await tasks.create('keep notes', { ...plan, approval: { mode: 'changes' } })
  await tasks.post(`/${task.id}/start`)
  await events.until('task:approval')
  await clock.advance(3 * DAY)
  await tasks.post(`/${task.id}/approve`, { approved: true })
  await events.until('task:approval', { kind: 'result' })
  const { role, content: [{ text }] } = prompts.at(-1).at(-1)
  t.equal(role, 'user')
  t.match(text, /^\[Not written by the user\. .* answered only after 3 days\. It is now \w+ Jan 08 2026 .*look again where it matters/)

  for (const hours of [0.5, 20]) {
    const [approvalId] = asked((await chat(app, 'write it', { id: `after ${hours}` })).events)
    await clock.advance(hours * DAY / 24)
    await answer(app, { [approvalId]: false })
    t.equal(toldLate(), hours === 20, `after ${hours} hours`)
  }
})

const TOKEN = 'correct horse'
const onePhase = { plan: { phases: [{ description: 'do it' }] } }
const writes = (path: string, content = 'x'): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content } }] })
const run = (command: string): Plan => ({ toolCalls: [{ toolName: 'runCommand', input: { command } }] })
const says = (text: string): Plan => ({ text: [text] })

/** A service whose model makes these calls, one a step, in each run: those of the n-th run, or of the last one. */
async function withRuns (t: Test, runs: Plan[][], settings: Parameters<typeof withGateway>[2] = {}) {
  const systems: string[] = []
  const { app, gateway } = await withGateway(t, ({ body: { prompt } }) => {
    const steps = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    if (steps === 0) systems.push(prompt[0].content)
    const calls = runs[Math.min(systems.length, runs.length) - 1]
    return calls[steps] ?? says('That is all.')
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
  const { id } = await tasks.create('keep a log', { ...onePhase, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
  await approvedRun(service, id)
  t.match(await grants('GET', `?taskId=${id}`), {
    grants: [{ taskId: id, scope: 'exact', source: 'approved_runs', input: { command: 'echo x >> log' } }]
  })

  await tasks.post(`/${id}/run`)
  const { runId } = await events.until('task:complete')
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\nx\n')
  t.match(systems[1], /run at once; others that change something wait for the user:\n- run a command, with exactly .*echo x >> log/)
  t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [{ toolName: 'runCommand', grantId: /./ }])

  await tasks.post(`/${id}/run`)
  const asked = await events.until('task:approval')
  t.match(asked, { kind: 'tool', reason: /What approved runs did: run a command, .*echo x.* This call is another .*echo y/ })
  const { waiting: { items: [{ text }] } } = await tasks.get('/digest?since=0')
  t.match(text, /asks whether it may run the command “echo y >> log” .*What approved runs did/)
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\nx\n')
})

t.test('of files, the same file is learned with any content, and its folder once another name was approved', async (t) => {
  const service = await withRuns(t, [
    [writes('notes/1.md')], [writes('notes/1.md', 'again'), writes('notes/2.md')], [writes('notes/3.md'), writes('notes/3.txt')]
  ])
  const { app, tasks, events } = service
  const { id } = await tasks.create('keep notes', { ...onePhase, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
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
  const { id } = await tasks.create('keep a log', { ...onePhase, taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
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
  const { id } = await tasks.create('keep a log', { ...onePhase, taskType: 'triggered', approval: { mode: 'always' } })
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
  const night = [run('echo tested >> log'), writes('made.txt'), run('echo tested  >> log')]
  const { app, gateway, tasks, grants, systems } = await withRuns(t, [night], { clock })
  const { id } = await tasks.create('test at night', {
    ...onePhase,
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
  t.match(systems[0], /others that change something are denied, so do without them:\n- run a command, with exactly/)

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
      text: /It was not allowed to write the file “.*” \(2 times\), as no grant covers it/
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
