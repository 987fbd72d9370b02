import { existsSync } from 'node:fs'
import t from 'tap'
import { answer, asked, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { decide, post, taskWaiting, waiting } from '../harness/approval-doors.ts'

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
