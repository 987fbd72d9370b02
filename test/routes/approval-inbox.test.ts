import { existsSync, readFileSync, writeFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { decide, post, taskWaiting, waiting } from '../harness/approval-doors.ts'
import { withGateway } from '../harness/with-gateway.ts'
import type { App } from '../../app.ts'
import { removeOldCopies } from '../../services/store/database-files.ts'
import { inputDigest } from '../../services/lib/canonical-json.ts'
import { build } from '../harness/helper.ts'
import { heldRead } from '../harness/store.ts'
import { approvalKey, taskApprovalKey } from '../../services/store/keys.ts'
import { createRetention } from '../../services/store/retention/retention.ts'

const DAY = 86_400_000

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
    reasons: [{ policy: 'toolPermission', text: 'This tool can change files or what the service keeps.' }],
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

t.test('what is answered while the list is read is in it no more', async (t) => {
  const { app, tasks, go } = await taskWaiting(t)
  const [chat] = asked((await say(app, 'write "x" to chat.txt', { id: 'chat' })).events)
  const { id, approvalId } = await go('write "x" to task.txt')
  const digest = () => tasks.get('/digest?since=0')
  for (const [key, look, decided] of [[approvalKey(chat), waiting, chat], [taskApprovalKey(approvalId), digest, approvalId]] as const) {
    let read: Promise<any>
    const release = await heldRead(app, key, () => {
      read = look(app)
    })
    t.match(await decide(app, decided, { approved: true }), { status: 200 })
    release()
    t.notMatch(JSON.stringify(await read!), decided)
  }
  t.match(await tasks.get(`/${id}`), { approvalHistory: [{ approvalId }] })
})

t.test('an approval is decided for its own conversation or task alone', async (t) => {
  const { app, go } = await taskWaiting(t)
  const [chat] = asked((await say(app, 'write "x" to chat.txt')).events)
  const { id, approvalId } = await go('write "x" to task.txt')
  t.match(await answer(app, { [approvalId]: true }), { status: 409, body: { code: 'ERR_OTHER_CONVERSATION', error: /belongs to a task/ } })
  t.match(
    await post(app, `/tasks/${id}/approve`, { approved: true, approvalId: chat }),
    { status: 404, body: { code: 'ERR_APPROVAL_NOT_FOUND' } }
  )
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
  const parts = [{ type: 'text', text: 'write "x" to b.txt' }]
  await app.inject({ method: 'POST', url: '/run?protocol=ui', payload: { id: 'ui', messages: [{ role: 'user', parts }] } })
  await app.inject({ method: 'POST', url: '/run/ui/stop' })
  const reason = 'The user moved on without answering.'
  for (const id of ['chat', 'ui']) {
    const read = async (protocol: string) => (await app.inject(`/threads/${id}?protocol=${protocol}`)).json()
    const { messages } = await read('ui')
    const call = messages[1].parts.find(({ toolCallId }: any) => toolCallId !== undefined)
    t.match(call, { state: 'output-denied', approval: { approved: false, reason } }, `${id}: what cannot be answered does not ask`)
    const parts = (await read('documented')).messages.flatMap(({ content }: any) => Array.isArray(content) ? content : [])
    const { approvalId } = parts.find(({ type }: any) => type === 'tool-approval-request')
    t.match(parts.filter(({ type }: any) => /response|result/.test(type)), [
      { type: 'tool-approval-response', approvalId, approved: false, reason },
      { type: 'tool-result', toolCallId: call.toolCallId, output: { type: 'execution-denied', reason } }
    ])
    t.match((await read('ui5')).messages[1].parts.find(({ toolCallId }: any) => toolCallId), { state: 'output-error', errorText: reason })
    const stored = (await app.inject(`/threads/${id}`)).json()
    await app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages } })
    t.same((await app.inject(`/threads/${id}`)).json().messages, stored.messages, 'what was read and put back stays')
  }

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

const calls = [
  { toolName: 'writeFile', input: { path: 'new/b.txt', content: 'made\n' } },
  { toolName: 'writeFile', input: { path: 'a.txt', content: 'one\n2\n' } },
  { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: '2', newText: 'TWO' }] } },
  { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: 'two', newText: '4' }] } },
  { toolName: 'deleteFile', input: { path: 'a.txt' } },
  { toolName: 'writeFile', input: { path: '../../b.txt', content: '' } },
  { toolName: 'runCommand', input: { command: 'rm a.txt' } },
  { toolName: 'editFile', input: { path: 'latin.txt', edits: [{ oldText: 'two', newText: '4' }] } },
  { toolName: 'writeFile', input: { path: '../../a.txt', content: '' } },
  { toolName: 'writeFile', input: { path: 'latin.txt', content: 'thé 茶\n' } }
]

t.test('a preview tells what an open call would change, and changes nothing', async (t) => {
  const { app } = await withGateway(t, () => ({ toolCalls: calls }))
  const isAsked = (_: unknown, at: number) => at !== 3 && at !== 5
  writeFileSync(`${app.cwd}/a.txt`, 'one\ntwo\n')
  writeFileSync(`${app.cwd}/latin.txt`, Buffer.from('caf\xe9\n', 'latin1'))
  const { events } = await say(app, 'go', { id: 'chat' })
  const failed = of(events, 'tool-output-error')
  t.match(failed, [{ errorText: /oldText/ }, { errorText: /outside/ }], 'nobody is asked about what would fail')
  const { approvals } = (await app.inject('/approvals')).json()
  t.same(approvals.map(({ input }: { input: unknown }) => input), calls.filter(isAsked).map(({ input }) => input))
  const preview = async (at: number) => (await app.inject(`/approvals/${approvals[at].approvalId}/preview`)).json()

  const previews = await Promise.all(approvals.map((_: unknown, at: number) => preview(at)))
  const [made, changed, edited, deleted, command, unfit, outside, latin] = previews
  t.match(made, { changes: [{ path: `${app.cwd}/new/b.txt`, diff: '--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+made\n' }] })
  t.match(changed.changes, [{ path: `${app.cwd}/a.txt`, diff: / one\n-two\n\+2\n/ }])
  t.match(edited.changes, [{ path: `${app.cwd}/a.txt`, diff: / one\n-2\n\+TWO\n/ }], 'it is shown as the call before it leaves the file')
  t.match(unfit, { changes: [], refused: /oldText/ }, 'an edit that may fit behind a command is asked about')
  t.same(deleted.changes, [{ path: `${app.cwd}/a.txt`, kind: 'deleted', what: 'file' }])
  t.same(outside.changes, [])
  t.match(outside.refused, /outside/, 'a path that the tool refuses is not read')
  t.same(command, { changes: [] })
  t.match(latin, { changes: [{ diff: /-café\n\+thé 茶/ }], note: /^The file is windows-1252, .* It would become UTF-8\.$/ })
  t.notOk('note' in changed)
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'one\ntwo\n')

  const { approvalId } = approvals[1]
  const post = async (path: string, payload: object) => (await app.inject({ method: 'POST', url: path, payload })).json()
  await post(`/approvals/${approvalId}`, { approved: false })
  const decided = { statusCode: 409, code: 'ERR_APPROVAL_DECIDED', error: /already denied/ }
  t.match(await preview(1), decided, 'what is decided has no preview')
  t.match(await post(`/approvals/${approvalId}/preview`, {}), decided)
  await post('/run/sync', { id: 'chat', messages: [{ role: 'user', content: 'something else' }] })
  t.match(await preview(0), { statusCode: 409, code: 'ERR_APPROVAL_WITHDRAWN' })
  t.equal((await app.inject('/approvals/unknown/preview')).statusCode, 404)
})

const DAY_MS = 24 * 60 * 60 * 1000
const decisions = async (app: App, query = '') => (await app.inject(`/approvals?state=decided${query}`)).json()

t.test('decisions are kept, of inputs and corrected ones the digests alone, and go with their conversation', async (t) => {
  const app = await build(t, { clock: fakeClock(Date.now()) })
  for (const id of ['a', 'b', 'c']) await say(app, `write "the secret text" to ${id}.txt`, { id })
  const open = (await app.inject('/approvals')).json().approvals
  t.same(await decisions(app), { approvals: [] })
  const input = { path: 'c.txt', content: 'the secret text, corrected' }
  const answers = [{ approved: true, scope: 'folder' }, { approved: false, reason: 'not there' }, { approved: true, input }]
  for (const [at, payload] of answers.entries()) {
    await app.inject({ method: 'POST', url: `/approvals/${open[at].approvalId}`, payload })
    await app.inject(`/runs/${open[at].runId}?waitMs=20000`)
  }
  const { approvals } = await decisions(app)
  t.match(approvals, [
    { threadId: 'c', state: 'done', toolName: 'writeFile', digest: open[2].digest, correctedDigest: inputDigest(input) },
    { threadId: 'b', state: 'denied', reason: 'not there' },
    { threadId: 'a', state: 'done', granted: { scope: 'folder' }, digest: open[0].digest, correctedDigest: undefined, decidedAt: Number }
  ])
  t.notMatch(JSON.stringify(approvals), /the secret text/)
  const first = await decisions(app, '&limit=1')
  t.match((await decisions(app, `&limit=1&cursor=${first.nextCursor}`)).approvals, [{ threadId: 'b' }])
  await app.inject({ method: 'DELETE', url: '/threads/b' })
  t.match((await decisions(app)).approvals, [{ threadId: 'c' }, { threadId: 'a' }])
})

t.test('a grant that was given or taken away by itself is kept, too', async (t) => {
  const app = await build(t)
  await say(app, 'hello', { id: 'a' })
  const payload = { threadId: 'a', toolName: 'writeFile', input: { path: 'x.txt', content: 'the secret text' }, scope: 'folder' }
  const { grantId } = (await app.inject({ method: 'POST', url: '/grants', payload })).json()
  t.match((await decisions(app)).approvals, [{ approvalId: grantId, state: 'approved', granted: { scope: 'folder' } }])
  await app.inject({ method: 'DELETE', url: `/grants/${grantId}` })
  t.match((await decisions(app)).approvals, [{ approvalId: grantId, state: 'withdrawn' }])
  t.notMatch(JSON.stringify(await decisions(app)), /the secret text/)
})

t.test('a year later they are gone', async (t) => {
  const clock = fakeClock(Date.now())
  const app = await build(t, { clock })
  await say(app, 'write "x" to a.txt', { id: 'a' })
  const [{ approvalId }] = (await app.inject('/approvals')).json().approvals
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: false } })
  const later = (days: number) =>
    createRetention({ store: app.store, clock: { ...clock, now: () => clock.now() + days * DAY_MS }, log: { warn () {} } }).sweep()
  await later(364)
  t.equal((await decisions(app)).approvals.length, 1, 'long after the request itself')
  await later(366)
  t.same((await decisions(app)).approvals, [])
})

t.test('copies of earlier data go after a week', async (t) => {
  const dir = t.testdir({ 'data.v1': { a: 'old' }, 'data.damaged-2026-01-01': { a: 'old' }, data: { a: 'new' } })
  const names = () => readdirSync(dir).sort()
  await removeOldCopies(dir, { ms: 7 * DAY_MS, now: Date.now() + 6 * DAY_MS })
  t.same(names(), ['data', 'data.damaged-2026-01-01', 'data.v1'])
  await removeOldCopies(dir, { ms: 7 * DAY_MS, now: Date.now() + 8 * DAY_MS })
  t.same(names(), ['data'])
})
