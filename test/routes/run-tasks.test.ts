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
import { analysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { answer } from '../harness/agent.ts'

const user = (content: string) => ({ messages: [{ role: 'user', content }] })
const dataOf = (events: Array<Record<string, any>>) => events.filter(({ type }) => type === 'data-task').map(({ data }) => data)
const planned = { object: { phases: [{ description: 'list' }], qualityCriteria: [] } }

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
    'tool-input-start',
    'tool-input-delta',
    'tool-input-available',
    'tool-output-available',
    'data-task',
    'finish-step',
    'step-boundary',
    'start-step',
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

t.test('what is said to come more often than hourly must be confirmed', async (t) => {
  const app = await build(t)
  const body = { id: 'chat', message: { role: 'user', content: 'every 10 seconds list the files here' } }
  const first = await post(app, body)
  t.same(dataOf(first.events), [])
  const { approvalId, reason } = first.events.find(({ type }) => type === 'tool-approval-request')!
  t.match(reason, /every 10 seconds, which is 8,640 times a day/)
  const { events } = await answer(app, { [approvalId]: true }, { id: 'chat' })
  t.match(dataOf(events), [{ interval: 'every 10 seconds', status: 'scheduled' }])
})

t.test('what cannot be understood as a time never runs anything', async (t) => {
  const app = await build(t, { clock: fakeClock(Date.UTC(2026, 10, 25, 11, 30)), config: { permissions: { writeFile: 'allow' } } })
  const ran: unknown[] = []
  const sentences = NOT_UNDERSTOOD.filter((text) => !/^(?:9|soon|later|often|sometimes)$/.test(text))
  t.ok(sentences.length > 60)
  for (const text of sentences) {
    const payload = { ...user(`${text}, write "x" to a.txt`), cwd: app.cwd }
    const { toolCalls, pendingApprovals, task, text: said } = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
    const done = toolCalls.filter(({ toolName, status }: any) => toolName !== 'createTask' || status !== 'error')
    if (done.length > 0 || pendingApprovals.length > 0 || task) ran.push([text, done, task, said])
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
  t.match({ finishReason, steps }, { finishReason: 'stop', steps: 2 })
})

t.test('a rehearsal of what would become a task makes none, and shows the call on its sheet', async (t) => {
  const app = await build(t)
  const payload = { ...user('every day at 9 list the files here'), dryRun: true }
  const run = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  t.match(run, { text: /would make a background task/, task: undefined })
  t.match((await app.inject(`/runs/${run.runId}/sheet`)).json().lines, [{ toolName: 'createTask', outcome: 'unknown', asks: false }])
  t.same((await (await tasksOf(t, app)).get('')).tasks, [])
})

/** A run whose task is being planned until `release` is called. */
async function planning (t: Test) {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const making: Plan = { toolCalls: [{ toolName: 'createTask', input: { goal: 'list the files here' } }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? making : { text: 'Nothing there.' }, {
    async structured (name): Promise<Plan> {
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
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
}

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

t.test('a store that takes nothing is told as an error, and there is no task', async (t) => {
  const { app, run, tasks, release } = await planning(t)
  const { mend } = breakDisk(t)
  release()
  t.equal(await run.ended, 'whole')
  const { events } = run
  t.match(events.slice(-2), [{ type: 'error', code: 'ERR_STORE_UNAVAILABLE' }, { type: 'finish', finishReason: 'error' }])
  t.same(dataOf(events), [])
  mend()
  while (app.store.status().state !== 'ok') await new Promise((resolve) => setTimeout(resolve, 2))
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
      structured: (name): Plan => name === 'analysis' ? (analyses++ === 0 ? {} : { object: analysis('long_running') }) : planned
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
