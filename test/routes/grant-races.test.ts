import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { asked, of, say } from '../harness/agent.ts'
import { parseEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { connect, everything } from '../harness/mcp.ts'
import { decide, post, taskWaiting } from '../harness/approval-doors.ts'
import { build } from '../harness/helper.ts'
import { answerByRun } from '../harness/questions.ts'

const SCOPES = ['once', 'exact', 'folder'] as const
const CALL = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
const answerOf = (approvalId: string, scope: string) =>
  ({ messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true, scope }] }] })

t.test('of fifty answers with different scopes that come at once through all doors, one counts, and gives one grant or none', async (t) => {
  const { app } = await withGateway(t, ({ body: { prompt } }) => prompt.at(-1).role === 'user' ? CALL : { text: 'done' })
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  const grantsOf = async (owner: string) => (await app.inject(`/grants?${owner}`)).json().grants as Array<{ scope: string, uses: number }>
  /** Sends the answers, and returns the scopes of those that were taken. */
  const atOnce = async (doors: Array<(scope: string) => ReturnType<typeof post>>) => {
    const answers = await Promise.all(Array.from({ length: 50 }, async (_, n) => {
      const scope = SCOPES[n % 3]
      return { scope, response: await doors[n % doors.length](scope) }
    }))
    t.same(answers.filter(({ response: { statusCode } }) => ![200, 409].includes(statusCode)).map(({ response }) => response.body), [])
    return new Set(answers.filter(({ response }) => response.statusCode === 200).map(({ scope }) => scope))
  }

  for (let round = 0; round < 3; round++) {
    const id = `chat-${round}`
    const events = parseEvents((await post('/run', { messages: [{ role: 'user', content: 'go' }], id })).body)
    const [approvalId] = asked(events)
    const doors = [
      (scope: string) => post(`/approvals/${approvalId}`, { approved: true, scope }),
      (scope: string) => post('/run/approve', { ...answerOf(approvalId, scope), id }),
      (scope: string) => post('/run', { ...answerOf(approvalId, scope), id })
    ]
    const taken = await atOnce([...doors.slice(round), ...doors.slice(0, round)])
    t.equal(taken.size, 1, [...taken].join())
    t.same((await grantsOf(`threadId=${id}`)).map(({ scope }) => scope), [...taken].filter((scope) => scope !== 'once'))
    t.equal(of(events, 'tool-approval-request').length, 1)
    while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  }

  const tasks = await tasksOf(t, app)
  const watch = await tasks.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const { id } = await tasks.create('write it', { plan, taskType: 'triggered', approval: { mode: 'always' } })
  await tasks.post(`/${id}/run`)
  const { approvalId } = await watch.until('task:approval', { kind: 'tool' })
  const taken = await atOnce([
    (scope) => post(`/approvals/${approvalId}`, { approved: true, scope }),
    (scope) => post(`/tasks/${id}/approve`, { approvalId, approved: true, scope })
  ])
  t.equal(taken.size, 1, [...taken].join())
  t.same((await grantsOf(`taskId=${id}`)).map(({ scope }) => scope), [...taken].filter((scope) => scope !== 'once'))
  await watch.until('task:approval', { kind: 'result' })
})

t.test('a tool of a server is granted whole, for its conversation, over a reconnect, and never against a rule', async (t) => {
  let n = 0
  const { app } = await withGateway(t, ({ body: { prompt } }) =>
    prompt.at(-1).role === 'user' ? { toolCalls: [{ toolName: 'echo', input: { message: `message ${n++}` } }] } : { text: 'done' })
  const send = async (url: string, payload: object) => parseEvents((await app.inject({ method: 'POST', url, payload })).body)
  const go = (id = 'a') => send('/run', { messages: [{ role: 'user', content: 'go' }], id })
  const server = { ...everything(), approval: 'always' }
  t.equal((await connect(app, server)).statusCode, 200)
  const first = await go()
  const [approvalId] = asked(first)
  t.same(of(first, 'tool-approval-request')[0].scopes.map(({ scope }: { scope: string }) => scope), ['once', 'exact', 'tool'])
  const content = [{ type: 'tool-approval-response', approvalId, approved: true, scope: 'tool' }]
  await send('/run/approve', { messages: [{ role: 'tool', content }] })

  t.same(asked(await go()), [], 'with another input')
  t.equal(asked(await go('b')).length, 1, 'of another conversation')
  await app.inject({ method: 'POST', url: '/mcp/disconnect', payload: { name: server.name } })
  t.equal((await connect(app, server)).statusCode, 200)
  t.same(asked(await go()), [], 'the same tool again')
  app.config.current.permissions = { echo: 'deny' }
  t.match(of(await go(), 'tool-input-error'), [{ errorText: /no tool named "echo"/ }])
})

const GRANTED = { approved: true, scope: 'folder', until: { uses: 3 } }
/** Answers after GRANTED: whether each says the same. */
const AGAIN: Array<[answer: object, isSame: boolean]> = [
  [GRANTED, true],
  [{ approved: true }, true],
  [{ approved: true, scope: 'folder', until: { uses: 4 } }, false],
  [{ approved: true, scope: 'folder' }, false],
  [{ approved: true, scope: 'exact', until: { uses: 3 } }, false]
]
const REFUSED = /already approved with the scope "folder" and "until" {"uses":3}/

t.test('a second answer with another scope or another end is refused and told what was granted, in a conversation', async (t) => {
  const app = await build(t)
  const [id] = asked((await say(app, 'write "x" to notes/a.txt', { id: 'chat' })).events)
  t.match(await decide(app, id, GRANTED), { status: 200 })
  for (const [answer, isSame] of AGAIN) {
    const byId = await decide(app, id, answer)
    const byRun = await answerByRun(app, id, answer)
    t.same([byId.status, byRun.status], isSame ? [200, 200] : [409, 409], JSON.stringify(answer))
    if (!isSame) t.match(`${byId.body.error} ${byRun.text.replaceAll('\\', '')}`, new RegExp(`${REFUSED.source}.*${REFUSED.source}`))
  }
  t.match((await app.inject('/grants?threadId=chat')).json().grants, [{ scope: 'folder', until: { uses: 3 } }])
})

t.test('and so it is in a task', async (t) => {
  const { app, go } = await taskWaiting(t)
  const { id, approvalId } = await go('write "x" to notes/a.txt')
  t.match(await post(app, `/tasks/${id}/approve`, { ...GRANTED, approvalId }), { status: 200 })
  for (const [answer, isSame] of AGAIN) {
    const byTask = await post(app, `/tasks/${id}/approve`, { ...answer, approvalId })
    const byId = await decide(app, approvalId, answer)
    t.same([byTask.status, byId.status], isSame ? [200, 200] : [409, 409], JSON.stringify(answer))
    if (!isSame) t.match([byTask.body.error, byId.body.error], [REFUSED, REFUSED])
  }
})

t.test('an answer without an end, and one for the call alone, are told as such', async (t) => {
  const app = await build(t)
  const go = async (path: string) => asked((await say(app, `write "x" to ${path}`)).events)[0]
  const forever = await go('notes/a.txt')
  await decide(app, forever, { approved: true, scope: 'folder' })
  t.match(await decide(app, forever, GRANTED), { status: 409, body: { error: /with the scope "folder" and no "until"/ } })
  const once = await go('other/a.txt')
  await decide(app, once, { approved: true })
  t.match(await decide(app, once, GRANTED), { status: 409, body: { error: /with the scope "once";/ } })
})

t.test('a grant that comes to rest while a use of it is being stored rests, and its command asks until a person approves it', async (t) => {
  const app = await build(t, { token: 'secret' })
  const post = (url: string, payload: object) =>
    app.inject({ method: 'POST', url, payload, headers: { authorization: 'Bearer secret' } })
  const owner = { threadId: 'chat' }
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { title: 'a' }, headers: { authorization: 'Bearer secret' } })
  t.equal((await post('/grants', { ...owner, toolName: 'runCommand', input: { command: 'sh ./a.sh' }, scope: 'exact' })).statusCode, 201)
  const [grant] = await app.grants.all(owner)
  const isUsed = await app.grants.use(grant, async (used) => {
    await app.store.transact(await app.grants.suspend([`${app.cwd}/a.sh`]))
    await app.store.transact([used])
  })
  t.equal(isUsed, true)
  t.match(await app.grants.all(owner), [{ uses: 1, suspended: { path: `${app.cwd}/a.sh` } }])
  t.equal(await app.grants.use(grant, async () => {}), false)
})

t.test('an answer with a scope approves what waits in the same step and it covers, as often as it holds, and nothing else', async (t) => {
  const paths = ['notes/1.md', 'notes/2.md', 'notes/deep/3.md', 'notes/4.txt', 'notes/.hidden.md', 'other/5.md']
  const toolCalls = paths.map((path) => ({ toolName: 'writeFile', input: { path, content: path } }))
  const { app } = await withGateway(t, ({ body: { prompt } }) => prompt.at(-1).role === 'user' ? { toolCalls } : { text: 'done' })
  const ask = async (id: string) => {
    const payload = { messages: [{ role: 'user', content: 'go' }], id }
    return asked(parseEvents((await app.inject({ method: 'POST', url: '/run', payload })).body))
  }
  const answer = async (approvalId: string, payload: object) =>
    (await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload })).json()
  const waiting = async () => {
    const { approvals } = (await app.inject('/approvals')).json()
    return approvals.map(({ input }: { input: { path: string } }) => input.path)
  }

  const first = await ask('a')
  const { released, continued } = await answer(first[0], { approved: true, scope: 'folder' })
  t.same([released, continued], [[first[1], first[2]], false])
  t.same(await waiting(), ['notes/4.txt', 'notes/.hidden.md', 'other/5.md'])
  t.match(await answer(first[1], { approved: false }), { statusCode: 409 }, 'it is decided')
  const over = new Promise<string>((resolve) => app.agent.onEnd(resolve))
  for (const approvalId of first.slice(3)) await answer(approvalId, { approved: false })
  await over
  t.same(paths.map((path) => existsSync(join(app.cwd, path))), [true, true, true, false, false, false])

  const second = await ask('b')
  t.same((await answer(second[0], { approved: true, scope: 'folder', until: { uses: 1 } })).released, [second[1]])
  t.match((await app.inject('/grants?threadId=b')).json().grants, [{ uses: 1, until: { uses: 1 } }], 'it is used up')
})

t.test('what is approved with another call of a task lets its run go on, and teaches nothing that lasts longer', async (t) => {
  const toolCalls = ['1.md', '2.md'].map((path) => ({ toolName: 'writeFile', input: { path, content: path } }))
  const { app } = await withGateway(t, ({ body: { prompt } }) => prompt.at(-1).role === 'user' ? { toolCalls } : { text: 'done' })
  const tasks = await tasksOf(t, app)
  const watch = await tasks.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const { id } = await tasks.create('write it', { plan, taskType: 'triggered', approval: { mode: 'changes' } })
  await tasks.post(`/${id}/run`)
  await watch.until('task:approval', { kind: 'tool' })
  const { approvals: [call, other] } = (await app.inject('/approvals')).json()
  const until = { at: Date.now() + 60_000 }
  const { body: { released, continued } } = await decide(app, call.approvalId, { approved: true, scope: 'folder', until })
  t.same([released, continued], [[other.approvalId], true])
  const { approvalId } = await watch.until('task:approval', { kind: 'result' })
  t.same([1, 2].map((n) => existsSync(join(app.cwd, `${n}.md`))), [true, true])
  t.same((await decide(app, approvalId, { approved: true })).body.learned.grants, [])
})
