import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { breakDisk } from '../harness/disk.ts'
import type { Plan } from '../fakes/gateway.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { NOT_UNDERSTOOD } from '../services/calendar/not-understood.ts'
import { listen } from '../harness/raw.ts'
import { openRun } from '../harness/reader.ts'
import { kinds, parseEvents, postEvents, textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const user = (content: string) => ({ messages: [{ role: 'user', content }] })
const dataOf = (events: Array<Record<string, any>>) => events.filter(({ type }) => type === 'data-task').map(({ data }) => data)
const noticesOf = (events: Array<Record<string, any>>) => events.filter(({ type }) => type === 'data-notice').map(({ data }) => data.code)
const long = (fields: object = {}) => ({
  object: { complexity: 'long_running', goal: 'list the files here', thinking: 'In the background.', qualityCriteria: [], ...fields }
})
const planned = { object: { phases: [{ description: 'list' }], qualityCriteria: [] } }
const threadOf = async (app: App): Promise<any[]> => (await app.inject('/threads/chat')).json().messages ?? []

async function post (app: App, body: object, path = '/run') {
  return postEvents(`http://127.0.0.1:${await listen(app)}${path}`, body)
}

t.test('work to repeat becomes a task with its schedule, and the answer says what was made and what can be done with it', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const { events } = await post(app, { ...user('every day at 9 list the files here'), context: { cwd: app.cwd } })
  t.same(kinds(events), [
    'start',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-end',
    'start-step',
    'data-task',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'finish'
  ])
  const [made] = dataOf(events)
  t.match(made, {
    goal: 'list the files here',
    taskType: 'recurring',
    status: 'scheduled',
    interval: 'every day at 9',
    words: 'every day at 09:00',
    nextRunAt: Number
  })
  t.match(events.find(({ type }) => type === 'data-task'), { id: made.taskId })
  t.match(await tasks.get(`/${made.taskId}`), {
    status: 'scheduled',
    schedule: { interval: 'every day at 9' },
    cwd: app.cwd,
    approval: { mode: 'changes', firstN: 3 },
    nextRunAt: made.nextRunAt
  })
  const text = textOf(events)
  for (const part of [made.taskId, 'list the files here', 'every day at 09:00', 'Among your tasks']) t.match(text, part)
  t.notMatch(text, /(GET|POST|DELETE) /, 'people read it')
  t.equal((await tasks.get('')).tasks.length, 1)
})

t.test('work for the background begins at once, and asks as the answer says', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { events: said } = await post(app, user('write "x" to a.txt in the background'))
  const [{ taskId, status }] = dataOf(said)
  t.equal(status, 'running')
  t.match(await events.until('task:approval', { taskId }), { kind: 'tool', toolName: 'writeFile' })
  t.match(textOf(said), /Until you have approved 3 runs that changed something, it asks before each change and for the result/)
  const approve = () => tasks.post(`/${taskId}/approve`, { approved: true })
  await approve()
  await events.until('task:approval', { taskId, kind: 'result' })
  await approve()
  await events.until('task:complete', { taskId })
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'x')
})

t.test('an answer that is given again names the same task while that is under way, and makes another once it is over', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const ask = (content: string, before: object[] = []) => post(app, { id: 'chat', messages: [...before, ...user(content).messages] })
  const daily = 'every day at 9 list the files here'
  const first = await ask(daily)
  const again = await ask(daily)
  t.same(dataOf(again.events), dataOf(first.events))
  t.match(textOf(again.events), /already.*it is scheduled/)
  const [{ taskId }] = dataOf(first.events)
  t.same((await tasks.get('')).tasks.map(({ id }: { id: string }) => id), [taskId])

  const [said] = user(daily).messages
  const next = await ask(daily, [said, { role: 'assistant', content: textOf(first.events) }])
  t.not(dataOf(next.events)[0].taskId, taskId, 'who says it once more in the conversation wants another')
  await tasks.call('DELETE', `/${taskId}`)
  t.not(dataOf((await ask(daily)).events)[0].taskId, taskId, 'one that was deleted is not brought up')

  const events = await tasks.watch()
  const once = 'write "x" to a.txt in the background'
  const [{ taskId: done }] = dataOf((await ask(once)).events)
  await events.until('task:approval', { taskId: done })
  t.match(textOf((await ask(once)).events), /already.*waiting for your approval/)
  await tasks.post(`/${done}/approve`, { approved: true })
  await events.until('task:approval', { taskId: done, kind: 'result' })
  await tasks.post(`/${done}/approve`, { approved: true })
  t.not(dataOf((await ask(once)).events)[0].taskId, done, 'what is over is done again')
})

t.test('a time in words makes a task for that time, also where a model calls the work simple', async (t) => {
  let when: object = {}
  const { app, gateway } = await withGateway(t, () => ({ text: 'Nothing there.' }), {
    clock: fakeClock(),
    config: { analysis: true },
    structured: (name): Plan => name === 'analysis' ? long({ complexity: 'simple', when }) : name === 'plan' ? planned : {}
  })
  const rows: Array<[when: object, task: object, words: RegExp]> = [
    [{ at: '2026-01-06T17:00', every: '', zone: 'America/New_York', text: 'tomorrow at 5pm' }, {
      taskType: 'one_shot',
      status: 'scheduled',
      nextRunAt: Date.UTC(2026, 0, 6, 22)
    }, /It runs once, on Tuesday, 6 January 2026 at 17:00 \(America\/New_York\)/],
    [{ at: '', every: 'every other friday', zone: 'UTC', text: '' }, {
      taskType: 'recurring',
      nextRunAt: Date.UTC(2026, 0, 9, 9)
    }, /It runs every other week on Friday at 09:00/],
    [{ at: '2026-01-07T08:00', every: 'weekly', zone: 'UTC', text: '' }, {
      nextRunAt: Date.UTC(2026, 0, 7, 8)
    }, /every Wednesday at 08:00/],
    [{ at: '09:30', every: 'every monday to friday', zone: 'UTC', text: '' }, {
      nextRunAt: Date.UTC(2026, 0, 5, 9, 30)
    }, /Monday to Friday at 09:30/]
  ]
  for (const [heard, task, words] of rows) {
    when = heard
    const { events } = await post(app, user(JSON.stringify(heard)))
    t.match(dataOf(events), [task], JSON.stringify(heard))
    t.same(noticesOf(events), [])
    t.match(textOf(events), words)
  }

  for (const text of ['', 'now', 'in the background']) {
    when = { at: '', every: '', zone: '', text }
    t.same(dataOf((await post(app, user(`simple ${text}`))).events), [], 'words alone make no task of simple work')
  }
  const tasks = await tasksOf(t, app)
  t.equal((await tasks.get('')).tasks.length, rows.length)
  const doubts: Array<[object, RegExp]> = [
    [{ at: '', every: 'at every full moon', zone: '', text: '' }, /"at every full moon" cannot be read as a time\. Say it like/],
    [{ at: '2026-01-05T08:00', every: '', zone: 'UTC', text: '' }, /in the past/],
    [{ at: '2026-01-06T08:00Z', every: '', zone: '', text: '' }, /not a time/],
    [{ at: 'someday', every: 'daily', zone: '', text: '' }, /"someday"/],
    [{ at: '', every: 'daily', zone: 'Mars/Base', text: '' }, /IANA/]
  ]
  for (const [heard, sentence] of doubts) {
    when = heard
    const { events } = await post(app, user(JSON.stringify(heard)))
    t.same(dataOf(events), [], JSON.stringify(heard))
    t.match(textOf(events), /Nothing there/, 'the model asks')
    const { prompt, tools = [] } = gateway.requests.filter(({ structured }) => structured === undefined).at(-1)!.body
    const system = prompt.filter(({ role }: { role: string }) => role === 'system')
    const told = system.map(({ content }: { content: string }) => content).join('\n')
    t.match(told, /names a time that cannot be read for sure\..*ask them, in their language/)
    t.match(told, sentence)
    t.same(tools, [], 'what is not understood runs nothing')
    t.match(noticesOf(events), ['no-task'])
  }
  t.equal((await tasks.get('')).tasks.length, rows.length)
})

t.test('what is said to come more often than every minute must be confirmed', async (t) => {
  const app = await build(t)
  const ask = (content: string) => post(app, { id: 'chat', message: { role: 'user', content } })
  const first = await ask('every 10 seconds list the files here')
  t.same(dataOf(first.events), [])
  t.same(noticesOf(first.events), ['no-task'])
  t.match(textOf(first.events), /every 10 seconds is 8,640 runs a day.*begin with “yes”/)
  t.match(dataOf((await ask('yes, every 10 seconds list the files here')).events), [{ interval: 'every 10 seconds', status: 'scheduled' }])
  t.same(dataOf((await ask('yes, every 5 seconds list the files here')).events), [], 'a yes to nothing confirms nothing')
})

t.test('what cannot be understood as a time never runs anything', async (t) => {
  const app = await build(t, { clock: fakeClock(Date.UTC(2026, 10, 25, 11, 30)), config: { permissions: { writeFile: 'allow' } } })
  const ran: unknown[] = []
  const sentences = NOT_UNDERSTOOD.filter((text) => !/^(?:9|soon|later|often|sometimes)$/.test(text))
  t.ok(sentences.length > 60)
  for (const text of sentences) {
    const payload = { ...user(`${text}, write "x" to a.txt`), cwd: app.cwd }
    const { toolCalls, pendingApprovals, task, text: said } = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
    if (toolCalls.length > 0 || pendingApprovals.length > 0 || task) ran.push([text, toolCalls, task, said])
  }
  t.same(ran, [])
  t.notOk(existsSync(`${app.cwd}/a.txt`))
  t.same((await (await tasksOf(t, app)).get('')).tasks, [])
})

t.test('the answer as one object names the task, too', async (t) => {
  const app = await build(t)
  const { task, text, finishReason, steps } =
    (await app.inject({ method: 'POST', url: '/run/sync', payload: user('keep watching the folder .') })).json()
  t.match(task, { goal: 'look at the folder .', taskType: 'recurring', interval: 'hourly', status: 'scheduled' })
  t.match(text, task.taskId)
  t.match({ finishReason, steps }, { finishReason: 'stop', steps: 1 })
})

/** A run whose task is being planned until `release` is called. */
async function planning (t: Test) {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const { app, gateway } = await withGateway(t, () => ({ text: 'Nothing there.' }), {
    config: { analysis: true },
    async structured (name): Promise<Plan> {
      if (name === 'analysis') return long()
      if (name !== 'plan') return {}
      reached.resolve()
      await held.promise
      return planned
    }
  })
  const run = await openRun(app, { ...user('list the files here in the background'), id: 'chat' })
  await reached.promise
  return { app, run, gateway, tasks: await tasksOf(t, app), release: () => held.resolve() }
}
const idle = async (app: App) => {
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
}

t.test('a client that goes away leaves exactly one task behind, and the thread says so', async (t) => {
  const { app, run, tasks, release } = await planning(t)
  run.hangUp()
  await run.ended
  release()
  await idle(app)
  const [task, ...others] = (await tasks.get('')).tasks
  t.same(others, [])
  t.match(await threadOf(app), [{ role: 'user' }, { role: 'assistant', content: [{ text: new RegExp(task.id) }] }])
})

t.test('a run that is stopped before its task is there makes none', async (t) => {
  const { app, run, tasks, release } = await planning(t)
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
  release()
  t.equal(await run.ended, 'whole')
  t.match(run.events.at(-3), { type: 'abort', reason: 'stop' })
  t.same((await tasks.get('')).tasks, [])
})

t.test('what the user says meanwhile is still answered', async (t) => {
  const { app, run, gateway, tasks, release } = await planning(t)
  await app.inject({ method: 'POST', url: '/run/chat/steer', payload: { message: 'and what is the time?' } })
  release()
  await idle(app)
  t.match(
    JSON.stringify(
      gateway.requests.filter(({ structured, streaming }) => streaming && structured === undefined).map(({ body }) =>
        body.prompt
      )
    ),
    'what is the time'
  )
  t.equal((await tasks.get('')).tasks.length, 1)
  const [{ runId }] = (await app.inject('/runs?threadId=chat')).json().runs
  const stored = parseEvents((await app.inject(`/run/${runId}/stream`)).body)
  t.same(kinds(stored), kinds(run.events.filter(({ type }) => type !== 'data-notice')), 'all of it is stored')
})

t.test('a rehearsal of what would become a task takes no more steering when it ends, and is over then', async (t) => {
  const reached = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<Plan>()
  const { app } = await withGateway(t, () => ({ text: 'Nothing there.' }), {
    config: { analysis: true },
    structured (name) {
      if (name === 'analysis') reached.resolve()
      return name === 'analysis' ? heard.promise : planned
    }
  })
  const run = await openRun(app, { ...user('list the files here in the background'), id: 'chat', dryRun: true })
  await reached.promise
  const [{ runId }] = (await app.inject('/runs?threadId=chat')).json().runs
  const said = await app.inject({ method: 'POST', url: `/run/${runId}/steer`, payload: { message: 'and quickly' } })
  t.equal(said.statusCode, 200)
  heard.resolve(long())
  for (let code = 200, n = 0; code === 200 && n < 15; n++) {
    code = (await app.inject({ method: 'POST', url: `/run/${runId}/steer`, payload: { message: `and ${n}` } })).statusCode
  }
  await run.ended
  t.match(textOf(run.events), /would make a background task/)
  await idle(app)
  t.match((await app.inject(`/runs/${runId}`)).json(), { status: 'completed', steered: [{ text: 'and quickly', state: 'unread' }] })
})

t.test('a store that takes nothing is told as an error, and there is no task', async (t) => {
  const { app, run, tasks, release } = await planning(t)
  const { mend } = breakDisk(t)
  release()
  t.equal(await run.ended, 'whole')
  const { events } = run
  t.match(events.slice(-2), [{ type: 'error', code: 'ERR_STORE_UNAVAILABLE' }, { type: 'finish', finishReason: 'error' }])
  t.same(dataOf(events), [])
  mend()
  while (app.store.status().state !== 'ok') await new Promise(setImmediate)
  t.same((await tasks.get('')).tasks, [])
})

t.test('an answer to an approval request is never taken for work for the background', async (t) => {
  let analyses = 0
  const { app } = await withGateway(
    t,
    (_request, nth) =>
      nth === 0 ? { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] } : { text: 'Written.' },
    {
      config: { analysis: true },
      structured: (name): Plan => name === 'analysis' ? (analyses++ === 0 ? {} : long()) : planned
    }
  )
  const { events } = await post(app, user('every day at 9 write x'))
  const { approvalId } = events.find(({ type }) => type === 'tool-approval-request')!
  for (const path of ['/run/approve', '/run']) {
    const done = await post(app, {
      messages: [...user('every day at 9 write x').messages, {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId, approved: true }]
      }]
    }, path)
    t.match(done.events.at(-1), { type: 'finish', finishReason: 'stop' })
  }
  t.equal(analyses, 1)
  t.same((await (await tasksOf(t, app)).get('')).tasks, [])
})
