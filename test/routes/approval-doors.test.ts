import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { openRun } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const DAY = 86_400_000
const post = async (app: App, url: string, payload: object) => {
  const response = await app.inject({ method: 'POST', url, payload })
  return { status: response.statusCode, body: response.headers['content-type'] === 'text/event-stream' ? {} : response.json() }
}
const decide = (app: App, id: string, payload: object) => post(app, `/approvals/${id}`, payload)
const waiting = async (app: App, query = '') => (await app.inject(`/approvals${query}`)).json().approvals
const idle = async (app: App) => {
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
}

type Door = (app: App, id: string, approved: boolean) => Promise<{ status: number, body: any }>
const inMessage = (id: string, approved: boolean) => [{
  role: 'tool',
  content: [{ type: 'tool-approval-response', approvalId: id, approved }]
}]
const CHAT_DOORS: Record<string, Door> = {
  'POST /run/approve': (app, id, approved) => answer(app, { [id]: approved }),
  'POST /run': (app, id, approved) => post(app, '/run/sync', { messages: inMessage(id, approved) }),
  'POST /approvals/:id': (app, id, approved) => decide(app, id, { approved })
}

t.test('of a conversation, the first decision wins through whichever doors the two come', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  let ran = ''
  for (const [first, byFirst] of Object.entries(CHAT_DOORS)) {
    for (const [second, bySecond] of Object.entries(CHAT_DOORS)) {
      for (const approved of [true, false]) {
        const [id] = asked((await say(app, 'go')).events)
        t.equal((await byFirst(app, id, approved)).status, 200, first)
        t.match(await bySecond(app, id, !approved), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } }, `${first}, then ${second}`)
        t.equal((await bySecond(app, id, approved)).status, 200, 'the same decision again is none')
        await idle(app)
        if (approved) ran += 'x'
        t.equal(effects(app.cwd), ran, `${first}, then ${second}: it ran once, or not at all`)
      }
    }
  }
})

t.test('of decisions that come at once through all doors, one wins', async (t) => {
  const app = await build(t, { config: calling(append('x')) })
  for (let round = 0; round < 6; round++) {
    const [id] = asked((await say(app, 'go')).events)
    const before = effects(app.cwd)
    const answers = await Promise.all(
      Object.values(CHAT_DOORS).flatMap((door, n) => [door(app, id, n % 2 === round % 2), door(app, id, round < 3)])
    )
    await idle(app)
    t.same(new Set(answers.map(({ status }) => status)), new Set([200, 409]))
    t.equal(effects(app.cwd).length - before.length, (await decide(app, id, { approved: true })).status === 200 ? 1 : 0)
  }
})

t.test('the run goes on with the last decision of its step, whoever makes it, and only then', async (t) => {
  const app = await build(t, { config: calling(append('a'), append('b')) })
  const [a, b] = asked((await say(app, 'go', { id: 'chat' })).events)
  t.match(await decide(app, a, { approved: true }), {
    status: 200,
    body: { approvalId: a, state: 'approved', threadId: 'chat', runId: /./, continued: false }
  })
  t.equal(effects(app.cwd), '')
  t.same((await waiting(app)).map(({ approvalId }: any) => approvalId), [b])
  const streamed = await answer(app, { [b]: true })
  t.equal(effects(app.cwd), 'ab')
  t.equal(textOf(streamed.events), 'done')

  const [c, d] = asked((await say(app, 'go', { id: 'other' })).events)
  t.same(asked((await answer(app, { [c]: true })).events), [d])
  t.match(await decide(app, d, { approved: true }), { body: { state: 'approved', continued: true } })
  await idle(app)
  t.equal(effects(app.cwd), 'abab')
  t.equal(textOf((await answer(app, { [d]: true })).events), 'done', 'a later answer replays what followed')
  t.match(await decide(app, d, { approved: true }), { body: { state: 'done', continued: true } })
})

t.test('a run that POST /approvals/:id continued needs no reader, and a later answer joins it', async (t) => {
  let held = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async ({ body: { prompt } }) => {
    if (prompt.at(-1).role === 'user') return { toolCalls: [append('x')] }
    await held.promise
    return { text: ['done'] }
  })
  const inChat = async (id: string) => {
    held = Promise.withResolvers()
    const [approvalId] = asked((await say(app, 'go', { id })).events)
    t.match(await decide(app, approvalId, { approved: true }), { body: { continued: true } })
    const body = { id, messages: inMessage(approvalId, true) }
    const joined = await openRun(app, body, '/run/approve')
    await joined.says('tool-output-available')
    return { approvalId, joined }
  }
  const left = await inChat('left')
  left.joined.hangUp()
  const connections = promisify(app.server.getConnections.bind(app.server))
  // The service notices a turn or two after the connection is closed.
  for (let turns = 50; turns > 0; turns--) {
    await new Promise(setImmediate)
    if (await connections() > 0) turns = 50
  }
  held.resolve()
  await idle(app)
  t.match((await app.inject('/threads/left')).json().lastMessage, 'done', 'it went on when its only reader had left')
  t.equal(textOf((await answer(app, { [left.approvalId]: true })).events), 'done')

  const stayed = await inChat('stayed')
  const followed = app.inject('/run/stayed/stream')
  held.resolve()
  t.equal(await stayed.joined.ended, 'whole')
  t.equal(textOf(stayed.joined.events), 'done')
  t.match((await followed).body, /done/)
  t.equal(effects(app.cwd), 'xx')
})

t.test('a denial with its reason reaches the model, and the conversation refuses the call from then on', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 1 ? { text: ['done'] } : { toolCalls: [append('x')] })
  const [id] = asked((await say(app, 'go', { id: 'chat' })).events)
  t.match(await decide(app, id, { approved: false, reason: 'not on a Sunday' }), { body: { state: 'denied', continued: true } })
  await idle(app)
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /not on a Sunday/)
  t.equal(effects(app.cwd), '')
})

async function taskWaiting (t: Test, settings: object = {}) {
  const app = await build(t, settings)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const go = async (goal: string) => {
    const { id } = await tasks.create(goal, { taskType: 'triggered', approval: { mode: 'always' } })
    await tasks.post(`/${id}/run`)
    const { approvalId, runId }: Record<string, any> = await events.until('task:approval', { taskId: id })
    return { id, approvalId, runId }
  }
  return { app, tasks, events, go }
}
const TASK_DOORS: Record<string, (taskId: string) => Door> = {
  'POST /tasks/:id/approve': (taskId) => (app, approvalId, approved) => post(app, `/tasks/${taskId}/approve`, { approvalId, approved }),
  'POST /approvals/:id': () => (app, id, approved) => decide(app, id, { approved })
}

t.test('of a task, the first decision wins through whichever doors the two come', async (t) => {
  const { app, events, go } = await taskWaiting(t)
  for (const [first, byFirst] of Object.entries(TASK_DOORS)) {
    for (const [second, bySecond] of Object.entries(TASK_DOORS)) {
      for (const approved of [true, false]) {
        const path = `${Math.random()}.txt`
        const { id, approvalId } = await go(`write "x" to ${path}`)
        t.equal((await byFirst(id)(app, approvalId, approved)).status, 200, first)
        t.match(await bySecond(id)(app, approvalId, !approved), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } }, `${first}, then ${second}`)
        t.equal((await bySecond(id)(app, approvalId, approved)).status, 200, 'the same decision again is none')
        if (approved) await events.until('task:approval', { kind: 'result', taskId: id })
        else await events.until('task:error', { taskId: id })
        t.equal(existsSync(`${app.cwd}/${path}`), approved, `${first}, then ${second}`)
      }
    }
  }
})

t.test('one list holds what waits of conversations and of tasks, by kind, and a task says what it waits for', async (t) => {
  const { app, tasks, events, go } = await taskWaiting(t)
  const [chat] = asked((await say(app, 'write "x" to chat.txt', { id: 'chat' })).events)
  const { id: taskId, approvalId, runId } = await go('write "x" to task.txt')
  t.same((await tasks.get(`/${taskId}`)).waitingFor, [{ kind: 'tool', id: approvalId }])
  const [first, second] = await waiting(app)
  t.match(first, { approvalId: chat, kind: 'tool', threadId: 'chat', toolName: 'writeFile', state: 'pending' })
  t.same(second, {
    approvalId,
    kind: 'tool',
    taskId,
    runId,
    toolCallId: second.toolCallId,
    toolName: 'writeFile',
    input: { path: 'task.txt', content: 'x' },
    digest: second.digest,
    scopes: second.scopes,
    cwd: app.cwd,
    createdAt: second.createdAt,
    expiresAt: second.createdAt + 7 * DAY,
    state: 'pending'
  })
  t.match(second.digest, /^[0-9a-f]{64}$/)
  t.match(second.scopes, [{ scope: 'once' }, { scope: 'exact' }, { scope: 'folder' }])
  t.match(await decide(app, approvalId, { approved: true, reason: 'for once' }), {
    status: 200,
    body: { approvalId, state: 'approved', runId, taskId, continued: true }
  })
  const result = await events.until('task:approval', { kind: 'result', taskId })
  t.match(await tasks.get(`/${taskId}`), {
    waitingFor: [{ kind: 'result', id: result.approvalId }],
    memory: { feedback: [{ approved: true, notes: 'for once' }] },
    approvalHistory: [{ approvalId, approved: true, notes: 'for once' }]
  })
  t.match(await waiting(app, '?kind=result'), [{ approvalId: result.approvalId, kind: 'result', taskId, output: result.output }])
  t.same((await waiting(app, '?kind=tool')).map(({ approvalId }: any) => approvalId), [chat])
  t.same(await waiting(app, '?kind=question'), [])
  const page = (await app.inject('/approvals?limit=1')).json()
  t.match((await app.inject(`/approvals?limit=1&cursor=${page.nextCursor}`)).json(), { approvals: [{ approvalId: result.approvalId }] })

  t.match(await decide(app, result.approvalId, { approved: true }), { body: { state: 'approved', taskId, continued: false } })
  const done = await tasks.get(`/${taskId}`)
  t.match(done, { successfulRuns: 1, approval: { approvedRuns: 1 } })
  t.notOk('waitingFor' in done)
  t.match(await decide(app, approvalId, { approved: true }), { status: 200, body: { state: 'done' } }, 'the tool has run')
})

t.test('an approval is decided for its own conversation or task alone', async (t) => {
  const { app, go } = await taskWaiting(t)
  const [chat] = asked((await say(app, 'write "x" to chat.txt')).events)
  const { id, approvalId } = await go('write "x" to task.txt')
  t.match(await answer(app, { [approvalId]: true }), { status: 409, body: { code: 'ERR_OTHER_CONVERSATION', error: /belongs to a task/ } })
  t.match(await post(app, `/tasks/${id}/approve`, { approved: true, approvalId: chat }), { status: 404, body: { code: 'ERR_APPROVAL_NOT_FOUND' } })
  for (const unknown of ['01900000-0000-7000-8000-000000000000', 'nonsense']) {
    t.match(await decide(app, unknown, { approved: true }), { status: 404, body: { code: 'ERR_APPROVAL_NOT_FOUND' } })
  }
  for (const body of [{}, { approved: 'true' }, { approved: true, note: 'x' }, { approved: true, reason: 'x'.repeat(4_001) }]) {
    t.equal((await decide(app, chat, body)).status, 400, JSON.stringify(body).slice(0, 40))
  }
  t.equal((await waiting(app)).length, 2, 'all of it still waits')
  t.same([existsSync(`${app.cwd}/chat.txt`), existsSync(`${app.cwd}/task.txt`)], [false, false])
})

t.test('what is over cannot be decided: expired, withdrawn with a new message, with its run or with its task', async (t) => {
  const clock = fakeClock()
  const { app, tasks, events, go } = await taskWaiting(t, { clock, config: { tasks: { approvalTtl: 2 * DAY } } })
  const [superseded] = asked((await say(app, 'write "x" to a.txt', { id: 'chat' })).events)
  await say(app, 'never mind', { id: 'chat' })
  t.match(await decide(app, superseded, { approved: true }), { status: 409, body: { error: /new message/ } })

  const cancelled = await go('write "x" to a.txt')
  await tasks.post(`/${cancelled.id}/cancel`)
  t.match(await decide(app, cancelled.approvalId, { approved: true }), {
    status: 409,
    body: { code: 'ERR_APPROVAL_WITHDRAWN', error: /its run has ended/ }
  })
  const deleted = await go('write "x" to a.txt')
  await tasks.call('DELETE', `/${deleted.id}`)
  t.equal((await decide(app, deleted.approvalId, { approved: true })).status, 404)
  t.same(await waiting(app), [])

  const [late] = asked((await say(app, 'write "x" to a.txt')).events)
  const lateTask = await go('write "x" to a.txt')
  await clock.advance(DAY)
  t.match(await decide(app, late, { approved: true }), { status: 410, body: { code: 'ERR_APPROVAL_EXPIRED' } })
  t.same((await waiting(app)).map(({ approvalId }: any) => approvalId), [lateTask.approvalId])
  await clock.advance(DAY)
  t.match(await decide(app, lateTask.approvalId, { approved: true }), { status: 410, body: { code: 'ERR_APPROVAL_EXPIRED' } })
  t.match(await events.until('task:error', { taskId: lateTask.id }), { status: 'rejected', error: /Nobody answered within 2 days/ })
  t.same(await waiting(app), [])
  t.notOk(existsSync(`${app.cwd}/a.txt`))
})

t.test('a task that is paused still shows its question, and takes the answer when it is resumed', async (t) => {
  const { app, tasks, events, go } = await taskWaiting(t)
  const { id, approvalId } = await go('write "x" to a.txt')
  await tasks.post(`/${id}/pause`)
  t.match(await waiting(app), [{ approvalId }])
  t.match(await decide(app, approvalId, { approved: true }), { status: 409, body: { code: 'ERR_TASK_STATE', error: /resume/ } })
  t.match(await tasks.post(`/${id}/resume`), { status: 'pending_approval', waitingFor: [{ id: approvalId }] })
  t.match(await decide(app, approvalId, { approved: true }), { status: 200, body: { continued: true } })
  await events.until('task:approval', { kind: 'result', taskId: id })
  t.ok(existsSync(`${app.cwd}/a.txt`))
})
