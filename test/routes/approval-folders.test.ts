import { existsSync, renameSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import type { App } from '../../app.ts'
import type { ToolItem } from '../../services/contracts/approval-record.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { decide, post, taskWaiting, waiting } from '../harness/approval-doors.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { layFolders } from '../harness/folders.ts'
import { build } from '../harness/helper.ts'
import { openRun } from '../harness/reader.ts'
import { kinds, textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const open = async (app: App) => (await app.inject('/approvals')).json().approvals
const record = async (app: App, id: string) => await app.store.get<ToolItem>(`approval/${id}`)

/** A service whose model makes these calls in one step, and folders that a run may work in. */
async function start (t: Parameters<typeof build>[0], ...calls: Parameters<typeof calling>) {
  const app = await build(t, { config: calling(...calls) })
  return { app, ...layFolders(app.cwd) }
}

t.test('a request shows the real path of the folder, in the stream, in the list and in /run/sync', async (t) => {
  const { app, a, link } = await start(t, append('x'))
  const first = await say(app, 'go', { context: { cwd: link } })
  t.match(of(first.events, 'tool-approval-request'), [{ cwd: a }])
  t.match(await open(app), [{ cwd: a }])
  t.notOk('folder' in (await open(app))[0], "which folder it is on the disk is nobody else's business")
  const sync = await app.inject({
    method: 'POST',
    url: '/run/sync',
    payload: { messages: [{ role: 'user', content: 'go' }], context: { cwd: link } }
  })
  t.match(sync.json().pendingApprovals, [{ cwd: a }])
  await answer(app, { [asked(first.events)[0]]: true })
  t.equal(effects(a), 'x')
})

t.test('a link that leads elsewhere when the answer comes: nothing runs, and the call is asked about anew', async (t) => {
  const { app, a, b, link, retarget } = await start(t, append('x'))
  const first = await say(app, 'go', { context: { cwd: link } })
  const [old] = asked(first.events)
  retarget(b)

  const again = await answer(app, { [old]: true })
  t.same(kinds(again.events), ['start', 'tool-approval-request', 'finish'])
  const [request] = of(again.events, 'tool-approval-request')
  t.match(request, {
    toolCallId: of(first.events, 'tool-approval-request')[0].toolCallId,
    input: append('x').input,
    cwd: b,
    reason: `The working folder was "${a}" when this was asked, and is "${b}" now. The call was not run.`
  })
  t.match(again.events.at(-1), { finishReason: 'tool-calls' })
  t.not(request.approvalId, old)
  t.equal(effects(a) + effects(b), '')
  t.match(await open(app), [{ approvalId: request.approvalId, cwd: b, note: request.reason }])
  t.match(await record(app, old), { state: 'withdrawn', approved: true, replacedBy: request.approvalId })

  t.same((await answer(app, { [old]: true })).events, again.events, 'the same answer again tells the same')
  t.match(await answer(app, { [old]: false }), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } })
  const done = await answer(app, { [request.approvalId]: true })
  t.equal(textOf(done.events), 'done')
  t.same([effects(a), effects(b)], ['', 'x'])
  t.same((await answer(app, { [old]: true })).events, again.events, 'also when it is long over')
  t.same((await answer(app, { [request.approvalId]: true })).events, done.events)
  t.equal(effects(b), 'x')
})

t.test('a call that is asked about anew may be denied', async (t) => {
  const { app, a, b, link, retarget } = await start(t, append('x'))
  const [old] = asked((await say(app, 'go', { context: { cwd: link } })).events)
  retarget(b)
  const [anew] = asked((await answer(app, { [old]: true })).events)
  t.match(of((await answer(app, { [anew]: false })).events, 'tool-output-denied'), [{ toolName: 'runCommand' }])
  t.equal(effects(a) + effects(b), '')
})

t.test('every time that the folder has changed it is asked anew; a way back is a change as well', async (t) => {
  const { app, a, b, link, retarget } = await start(t, append('x'))
  let [id] = asked((await say(app, 'go', { context: { cwd: link } })).events)
  for (const to of [b, a, b]) {
    retarget(to)
    const { events } = await answer(app, { [id]: true })
    t.match(of(events, 'tool-approval-request'), [{ cwd: to }])
    ;[id] = asked(events)
  }
  await answer(app, { [id]: true })
  t.same([effects(a), effects(b)], ['', 'x'])
})

t.test('another folder at the same path is another folder, also when a folder above it was replaced', async (t) => {
  const { app, a, replace } = await start(t, append('x'))
  const [old] = asked((await say(app, 'go', { context: { cwd: a } })).events)
  const before = replace(a)
  const again = await answer(app, { [old]: true })
  t.match(of(again.events, 'tool-approval-request'), [{
    cwd: a,
    reason: `The folder "${a}" was replaced by another one after this was asked. The call was not run.`
  }])
  t.equal(effects(a) + effects(before), '')

  rmSync(a, { recursive: true })
  renameSync(before, a)
  const [third] = asked((await answer(app, { [asked(again.events)[0]]: true })).events)
  await answer(app, { [third]: true })
  t.equal(effects(a), 'x')
})

t.test('a folder that is gone: the call fails, and the model is told', async (t) => {
  const { app, a } = await start(t, append('x'))
  const [id] = asked((await say(app, 'go', { context: { cwd: a } })).events)
  rmSync(a, { recursive: true })
  const { events } = await answer(app, { [id]: true })
  t.match(of(events, 'tool-output-error'), [{ errorText: `The working folder "${a}" is gone. The call was not run.` }])
  t.equal(textOf(events), 'done')
  t.same(await open(app), [])
  t.same((await answer(app, { [id]: true })).events, events)
})

t.test('of several calls those that ran stay, and only those behind the change are asked about anew', async (t) => {
  const switching = { toolName: 'runCommand', input: { command: 'printf 1 >> ../effects.log; rm ../link; ln -s b ../link' } }
  const { app, a, b, link } = await start(t, switching, append('2'))
  const ids = asked((await say(app, 'go', { context: { cwd: link } })).events)
  const { events } = await answer(app, { [ids[0]]: true, [ids[1]]: true })
  t.equal(of(events, 'tool-output-available').length, 1)
  t.match(of(events, 'tool-approval-request'), [{ cwd: b, input: append('2').input }])
  t.same([effects(app.cwd), effects(a), effects(b)], ['1', '', ''])
  const done = await answer(app, { [asked(events)[0]]: true })
  t.equal(textOf(done.events), 'done')
  t.same([effects(app.cwd), effects(a), effects(b)], ['1', '', '2'])
})

t.test('an approved call behind one that is asked about anew waits for it', async (t) => {
  const { app, a, b, link, retarget } = await start(t, append('1'), {
    toolName: 'runCommand',
    input: { command: 'cat ../b/effects.log && printf 2 >> ../effects.log', cwd: '../a' }
  })
  const first = await say(app, 'go', { context: { cwd: link } })
  t.match(of(first.events, 'tool-approval-request'), [{ cwd: a }, { cwd: a }])
  const [one, two] = asked(first.events)
  retarget(b)
  const { events } = await answer(app, { [one]: true, [two]: true })
  t.match(of(events, 'tool-approval-request'), [{ cwd: b, input: append('1').input }], 'the second is where it was')
  t.equal(effects(app.cwd), '')
  t.match(await open(app), [{ input: append('1').input }])
  const done = await answer(app, { [asked(events)[0]]: true })
  t.match(of(done.events, 'tool-output-available').map(({ output }) => output.stdout), ['', '1'])
  t.equal(effects(app.cwd), '2')
})

t.test('the folder that a command names itself is shown and kept to as well', async (t) => {
  const { app, a, b, retarget } = await start(t, { toolName: 'runCommand', input: { command: 'printf x >> effects.log', cwd: 'link' } })
  const first = await say(app, 'go', { context: { cwd: app.cwd } })
  t.match(of(first.events, 'tool-approval-request'), [{ cwd: a }])
  retarget(b)
  const again = await answer(app, { [asked(first.events)[0]]: true })
  t.match(of(again.events, 'tool-approval-request'), [{ cwd: b }])
  await answer(app, { [asked(again.events)[0]]: true })
  t.same([effects(a), effects(b)], ['', 'x'])
})

t.test('a folder that a command names and an earlier call of the step makes is run in', async (t) => {
  const { app, a } = await start(t, { toolName: 'runCommand', input: { command: 'mkdir made' } }, {
    toolName: 'runCommand',
    input: { command: 'printf x >> effects.log', cwd: 'made' }
  })
  const first = await say(app, 'go', { context: { cwd: a } })
  t.match(of(first.events, 'tool-approval-request'), [{ cwd: a }, { cwd: a }])
  const [one, two] = asked(first.events)
  t.equal(textOf((await answer(app, { [one]: true, [two]: true })).events), 'done')
  t.equal(effects(`${a}/made`), 'x')
})

t.test('a file is written where it was shown', async (t) => {
  const { app, a, b, link, retarget } = await start(t, { toolName: 'writeFile', input: { path: 'notes.txt', content: 'x' } })
  const [old] = asked((await say(app, 'go', { context: { cwd: link } })).events)
  retarget(b)
  const [anew] = asked((await answer(app, { [old]: true })).events)
  t.notOk(existsSync(`${a}/notes.txt`) || existsSync(`${b}/notes.txt`))
  await answer(app, { [anew]: true })
  t.ok(existsSync(`${b}/notes.txt`))
})

t.test('what was asked is kept to after a restart', async (t) => {
  const { app, b, link, retarget } = await start(t, append('x'))
  const [old] = asked((await say(app, 'go', { id: 'new', context: { cwd: link } })).events)
  await app.close()

  retarget(b)
  const next = await build(t, { home: app.home, cwd: app.cwd })
  const [anew] = asked((await answer(next, { [old]: true }, { id: 'new' })).events)
  t.ok(anew)
  t.equal(effects(b), '')
  t.equal(textOf((await answer(next, { [anew]: true }, { id: 'new' })).events), 'done')
  t.equal(effects(b), 'x')
})

t.test('a new message instead of an answer withdraws what was asked anew', async (t) => {
  const { app, a, b, link, retarget } = await start(t, append('x'))
  const [old] = asked((await say(app, 'go', { id: 'chat', context: { cwd: link } })).events)
  retarget(b)
  const [anew] = asked((await answer(app, { [old]: true })).events)
  await say(app, 'never mind', { id: 'chat' })
  t.match(await answer(app, { [anew]: true }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
  t.same((await open(app)).filter(({ approvalId }: any) => [old, anew].includes(approvalId)), [])
  t.equal(effects(a) + effects(b), '')
})

const idle = async (app: App) => {
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
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
