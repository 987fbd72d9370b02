import t from 'tap'
import { post } from '../harness/approval-doors.ts'
import { answerCall, calls, openCalls, OPTIONS, READ, toldResults, withTurns } from '../harness/app-tools.ts'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'

type Test = Parameters<typeof withTurns>[0]
const plan = { phases: [{ description: 'do it' }] }

/** A task whose run has made a call of the application. */
async function withTask (t: Test, { turns = [calls('openDocument')], options = OPTIONS, ...fields }: {
  turns?: ReturnType<typeof calls>[],
  options?: object,
  approval?: object
} = {}, settings: object = {}) {
  const service = await withTurns(t, turns, settings)
  const tasks = await tasksOf(t, service.app)
  const events = await tasks.watch()
  const task = await tasks.create('open the budget', { plan, options, ...fields })
  await tasks.post(`/${task.id}/start`)
  return { ...service, tasks, events, id: task.id as string }
}

t.test('a task whose application is away waits, says so, and goes on with the answer', async (t) => {
  const { app, gateway, tasks, events, id } = await withTask(t)
  const call = await events.until('task:tool-call')
  t.match(call, { taskId: id, toolName: 'openDocument', input: { name: 'Budget' }, toolCallId: String, expiresAt: Number })
  t.match(await tasks.get(`/${id}`), {
    status: 'pending_approval',
    waitingFor: [{ kind: 'app', id: call.toolCallId }],
    options: { app: 'editor', appTools: [{ name: 'openDocument' }, { name: 'saveDocument' }] }
  })
  t.match(await openCalls(app, `?taskId=${id}`), [{ toolCallId: call.toolCallId, taskId: id, app: 'editor' }])
  const { text, waiting, waitingForApp } = await tasks.get('/digest?since=0')
  t.match(text, /Waiting for an application: 1 call\./)
  t.same(waiting.items, [])
  t.match(waitingForApp, {
    more: 0,
    items: [{
      taskId: id,
      toolCallId: call.toolCallId,
      app: 'editor',
      toolName: 'openDocument',
      about: '{"name":"Budget"}',
      isClaimed: false,
      text: /“open the budget” waits for the application editor, which is to execute openDocument with {"name":"Budget"}/
    }]
  })
  t.equal((await tasks.call('POST', `/${id}/approve`, { approved: true })).status, 409, 'there is nothing to approve')

  t.match(await answerCall(app, call.toolCallId, { claim: 'a' }), { status: 200, body: { state: 'claimed', taskId: id } })
  t.match(await tasks.get(`/${id}`), { status: 'pending_approval', waitingFor: [{ kind: 'app' }] })
  t.match(await answerCall(app, call.toolCallId, { output: { pages: 12 } }), { status: 200, body: { state: 'done', continued: true } })
  t.match(await events.until('task:tool', { tool: 'openDocument' }), { output: { pages: 12 }, status: 'complete' })
  t.match(await events.until('task:complete'), { output: 'Done.' })
  t.match(toldResults(gateway), [{ type: 'json', value: { pages: 12 } }])
  t.match(await answerCall(app, call.toolCallId, { output: { pages: 12 } }), { status: 200, body: { continued: false } })
})

t.test('in the mode always, the call is approved before it is handed out', async (t) => {
  const { app, tasks, events, id } = await withTask(t, { turns: [calls('saveDocument')], approval: { mode: 'always' } })
  const { approvalId } = await events.until('task:approval', { kind: 'tool' })
  t.same(await openCalls(app), [])
  await tasks.post(`/${id}/approve`, { approved: true, approvalId })
  const { toolCallId } = await events.until('task:tool-call')
  t.match((await tasks.get(`/${id}`)).waitingFor, [{ kind: 'app', id: toolCallId }])
  await answerCall(app, toolCallId, { error: 'The disk is full.' })
  t.match(await events.until('task:tool'), { output: { error: 'The disk is full.' }, status: 'error' })
  await events.until('task:approval', { kind: 'result' })
})

t.test('a call of a task outlives restarts, and its run goes on in the next service', async (t) => {
  const { app, gateway, events, id } = await withTask(t)
  const { toolCallId } = await events.until('task:tool-call')
  await app.close()
  const next = await withTurns(t, [calls('openDocument')], { home: app.home, cwd: app.cwd, gatewayBaseURL: gateway.url })
  const tasks = await tasksOf(t, next.app)
  const told = await tasks.watch()
  t.match(await tasks.get(`/${id}`), { status: 'pending_approval', waitingFor: [{ kind: 'app', id: toolCallId }] })
  await answerCall(next.app, toolCallId, { output: {} })
  t.match(await told.until('task:complete'), { output: 'Done.' })
})

t.test('a call that nobody answers in its time is an error that the model is told; the run goes on', async (t) => {
  const clock = fakeClock()
  const { app, gateway, events } = await withTask(t, { options: { appTools: [{ ...READ, timeoutMs: 60_000 }] } }, { clock })
  const { toolCallId } = await events.until('task:tool-call')
  await clock.advance(60_000)
  t.match(await events.until('task:tool'), { output: { error: /did not answer in time/ } })
  await events.until('task:complete')
  t.match(toldResults(gateway), [{ type: 'error-text' }])
  t.equal((await answerCall(app, toolCallId, { output: {} })).status, 410)
})

t.test('a task that is paused takes the answer, and goes on when it is resumed', async (t) => {
  const { app, tasks, events, id } = await withTask(t)
  const { toolCallId } = await events.until('task:tool-call')
  await tasks.post(`/${id}/pause`)
  t.match(await answerCall(app, toolCallId, { output: {} }), { status: 200, body: { state: 'done', continued: false } })
  t.match(await tasks.get(`/${id}`), { status: 'paused' })
  t.match(await tasks.post(`/${id}/resume`), { status: 'running' })
  t.match(await events.until('task:complete'), { output: 'Done.' })
})

t.test('cancelling the task withdraws its call', async (t) => {
  const { app, tasks, events, id } = await withTask(t)
  const { toolCallId } = await events.until('task:tool-call')
  await tasks.post(`/${id}/cancel`)
  t.same(await openCalls(app), [])
  t.match(await answerCall(app, toolCallId, { output: {} }), {
    status: 409,
    body: { code: 'ERR_TOOL_CALL_WITHDRAWN', error: /its run has ended/ }
  })
})

t.test('a call is granted beforehand to a task whose options define its tool, as long as they define the same', async (t) => {
  const { app } = await withTurns(t, [calls('saveDocument')])
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('save the budget', { plan, options: OPTIONS, approval: { mode: 'always' }, taskType: 'triggered' })
  const grant = async (fields: object) =>
    (await post(app, '/grants', { taskId: id, toolName: 'saveDocument', ...fields })).body
  t.match(await grant({ scope: 'exact' }), { code: 'ERR_GRANT_REFUSED', error: /"exact" needs "input"/ })
  t.match(await grant({ scope: 'exact', input: { name: 3 } }), { code: 'ERR_GRANT_REFUSED', error: /name/ })
  t.match(await grant({ scope: 'tool', toolName: 'sendDocument' }), { code: 'ERR_GRANT_REFUSED', error: /no tool named "sendDocument"/ })
  t.match(await grant({ scope: 'tool' }), { taskId: id, toolName: 'saveDocument', scope: 'tool', source: 'request' })
  await tasks.post(`/${id}/run`)
  const { toolCallId } = await events.until('task:tool-call', { toolName: 'saveDocument' })
  await answerCall(app, toolCallId, { output: {} })
  const { approvalId } = await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${id}/approve`, { approved: true, approvalId })

  const appTools = OPTIONS.appTools.map((tool) => ({ ...tool, description: 'Other.' }))
  await tasks.call('PUT', `/${id}`, { options: { ...OPTIONS, appTools } })
  await tasks.post(`/${id}/run`)
  t.match(await events.until('task:approval', { kind: 'tool' }), { toolName: 'saveDocument' })
})
