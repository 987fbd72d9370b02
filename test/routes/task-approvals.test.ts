import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { answer, asked, say as chat } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { again, begin, plan, say, withModel, write } from '../harness/task-approvals.ts'

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
  while ((await second.tasks.get(`/${task.id}`)).status !== 'scheduled') await new Promise(setImmediate)
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
  const toldLate = () => JSON.stringify(prompts.at(-1)!.at(-1)).includes('The user answered only after')
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
