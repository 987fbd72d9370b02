import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { openRun } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { decide, post, taskWaiting, waiting } from '../harness/approval-doors.ts'

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
        t.match(
          await bySecond(id)(app, approvalId, !approved),
          { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } },
          `${first}, then ${second}`
        )
        t.equal((await bySecond(id)(app, approvalId, approved)).status, 200, 'the same decision again is none')
        if (approved) await events.until('task:approval', { kind: 'result', taskId: id })
        else await events.until('task:error', { taskId: id })
        t.equal(existsSync(`${app.cwd}/${path}`), approved, `${first}, then ${second}`)
      }
    }
  }
})
