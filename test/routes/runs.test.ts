import { cpSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { readEvents } from '../harness/event-reader.ts'
import { heldModel } from '../harness/held-model.ts'
import { build } from '../harness/helper.ts'
import { asking, FORMAT, questionsIn } from '../harness/questions.ts'
import { listen } from '../harness/raw.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { parseEvents } from '../harness/sse.ts'
import { heldRead } from '../harness/store.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { approvalKey, runInputKey, runKey, taskApprovalKey } from '../../services/store/keys.ts'
import type { App } from '../../app.ts'

const runs = async (app: App, query = '') => (await app.inject(`/runs${query}`)).json()
const ids = async (app: App, query = ''): Promise<string[]> => (await runs(app, query)).runs.map(({ runId }: any) => runId)
const one = async (app: App, runId: string, query = '') => (await app.inject(`/runs/${runId}${query}`)).json()
const runIdOf = (events: any[]): string => of(events, 'start')[0].messageMetadata.runId

t.test('runs of conversations and tasks are one list, newest first, by page, thread, task and status', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const first = runIdOf((await say(app, 'system info', { id: 'one' })).events)
  const task = await tasks.create('system info', { taskType: 'triggered' })
  await tasks.post(`/${task.id}/run`)
  const { runId: second } = await events.until('task:complete')
  const third = runIdOf((await say(app, 'write "x" to a.txt', { id: 'two' })).events)
  const fourth = runIdOf((await say(app, 'system info', { id: 'one' })).events)

  t.same(await ids(app), [fourth, third, second, first])
  t.same(await ids(app, '?threadId=one'), [fourth, first])
  t.same(await ids(app, '?threadId=nobody'), [])
  t.same(await ids(app, `?taskId=${task.id}`), [second])
  t.same(await ids(app, '?status=pending_approval'), [third])
  t.same(await ids(app, '?status=completed'), [fourth, second, first])
  t.same(await ids(app, '?status=completed&threadId=two'), [])
  t.match((await app.inject(`/runs?threadId=one&taskId=${task.id}`)).json(), { statusCode: 400, code: 'ERR_BAD_REQUEST' })
  t.match((await app.inject('/runs?status=over')).json(), { statusCode: 400, error: /must be one of queued, running/ })

  const seen: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: any = await runs(app, `?limit=1${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.runs.map(({ runId }: any) => runId))
    cursor = page.nextCursor
  }
  t.same(seen, [fourth, third, second, first], 'page by page')
  t.same((await runs(app, `?threadId=one&limit=1&cursor=${fourth}`)).runs.map(({ runId }: any) => runId), [first])
  t.same(await ids(app, `?taskId=${task.id}&cursor=${second}`), [])
})

t.test('a run that goes on while it is read is told as it goes on', async (t) => {
  const app = await build(t)
  const first = await say(app, 'write "x" to a.txt', { id: 'chat' })
  const [approvalId] = asked(first.events)
  let read: Promise<any>
  let release = await heldRead(app, approvalKey(approvalId), () => {
    read = one(app, runIdOf(first.events))
  })
  await answer(app, { [approvalId]: true }, { id: 'chat' })
  release()
  t.match(await read!, { status: 'completed', error: undefined, questions: [] }, 'of a conversation')

  const second = await say(app, 'write "y" to a.txt', { id: 'chat' })
  const [asks] = asked(second.events)
  let answered: Promise<unknown>
  const goOn = await heldRead(app, runInputKey(runIdOf(second.events)), () => {
    answered = answer(app, { [asks]: true }, { id: 'chat' })
  })
  release = await heldRead(app, approvalKey(asks), () => {
    read = one(app, runIdOf(second.events))
  })
  release()
  await setImmediate()
  goOn()
  t.match(await read!, { status: /running|completed/, error: undefined }, 'the answer is on disk, the run is about to go on')
  await answered!

  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('system info', { taskType: 'triggered', approval: { mode: 'always' } })
  await tasks.post(`/${id}/run`)
  const result = await events.until('task:approval')
  release = await heldRead(app, taskApprovalKey(result.approvalId), () => {
    read = tasks.runs(id)
  })
  await tasks.post(`/${id}/approve`, { approved: true, approvalId: result.approvalId })
  release()
  t.match(await read!, [{ status: 'completed', questions: [] }], 'of a task')

  release = await heldRead(app, runKey(result.runId), () => {
    read = tasks.get(`/${id}/runs`)
  })
  await tasks.call('DELETE', `/${id}`)
  release()
  t.same(await read!, { runs: [] }, 'what is deleted is not damaged')
})

t.test('a run of a task is the same object at both places', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('write "x" to a.txt', { taskType: 'triggered' })
  await tasks.post(`/${task.id}/run`)
  const { runId } = await events.until('task:complete')
  const run = await one(app, runId)
  t.same(run, await tasks.get(`/${task.id}/runs/${runId}`))
  const toolCalls = [{ toolCallId: /./, toolName: 'writeFile', durationMs: Number }]
  t.match(run, { taskId: task.id, runNumber: 1, phases: Array, toolCalls })
  t.same((await runs(app)).runs, await tasks.runs(task.id))
})

t.test('a run of a conversation tells what it did, and what it asks while it waits', async (t) => {
  const app = await build(t)
  const { events } = await say(app, 'write "x" to a.txt', { id: 'chat', options: { effort: 'low' } })
  const runId = runIdOf(events)
  const [approvalId] = asked(events)
  const waiting = await one(app, runId)
  t.match(waiting, {
    runId,
    threadId: 'chat',
    trigger: 'message',
    status: 'pending_approval',
    toolCalls: [{ toolCallId: /./, toolName: 'writeFile', input: { path: 'a.txt', content: 'x' }, status: 'pending' }],
    toolCount: 1,
    questions: [{ approvalId, kind: 'tool', toolName: 'writeFile' }],
    options: { effort: 'low' },
    steering: []
  })
  for (const field of ['taskId', 'runNumber', 'phases', 'completedAt', 'error']) t.notOk(field in waiting, field)
  await answer(app, { [approvalId]: true })
  const done = await one(app, runId)
  const toolCalls = [{ status: 'completed', output: { created: true }, durationMs: Number }]
  t.match(done, { status: 'completed', output: /a\.txt/, questions: [], toolCalls })
  t.equal(done.durationMs, done.completedAt - done.startedAt)
  t.equal(done.usage.inputTokens > waiting.usage.inputTokens, true)
  t.same((await app.inject(`/runs/${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`)).json().code, 'ERR_RUN_NOT_FOUND')
})

t.test('a newer message ends the run that waits, and nobody answering ends it, too', async (t) => {
  const app = await build(t)
  const first = runIdOf((await say(app, 'write "x" to a.txt', { id: 'chat' })).events)
  await say(app, 'system info', { id: 'chat' })
  t.match(await one(app, first), { status: 'cancelled', error: /newer message/, questions: [] })
  t.same(await ids(app, '?status=cancelled'), [first])
})

t.test('a run is shown while it executes, and failures and stops say why', async (t) => {
  const model = await heldModel(t)
  const app = await build(t, model.parts)
  const live = await openRun(app, { ...userSays('go'), id: 'live' })
  await model.begun(1)
  t.match((await runs(app, '?status=running')).runs, [{ threadId: 'live', status: 'running' }])
  const [runId] = await ids(app, '?threadId=live')
  t.match(await one(app, runId), { status: 'running', toolCalls: [] })
  await app.inject({ method: 'POST', url: '/run/live/stop' })
  await live.ended
  t.match(await one(app, runId), { status: 'stopped', error: 'The run was stopped.', completedAt: Number })
  const failing = await openRun(app, { ...userSays('go'), id: 'failing' })
  await model.begun(2)
  model.fail(1)
  await failing.ended
  t.match((await runs(app, '?threadId=failing')).runs, [
    { status: 'failed', error: /./, failure: { reason: 'error', code: 'ERR_PROVIDER_REQUEST' } }
  ])
})

t.test('a run that breaks off after an approval says why, and nothing of it once the same answer has let it go on', async (t) => {
  const held = Promise.withResolvers<Plan>()
  const begun = Promise.withResolvers<void>()
  const answers: Array<Plan | Promise<Plan>> = [
    { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] },
    { error: { status: 400, message: 'no' } },
    held.promise,
    { text: 'Done.' }
  ]
  const { app } = await withGateway(t, (_request, nth) => {
    if (nth === 2) begun.resolve()
    return answers[nth]
  })
  const { events } = await say(app, 'go', { id: 'chat' })
  const runId = runIdOf(events)
  const [approvalId] = asked(events)
  await answer(app, { [approvalId]: true })
  t.match(await one(app, runId), { status: 'failed', error: /./, completedAt: Number })

  const again = { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }] }
  const run = await openRun(app, again, '/run/approve')
  await begun.promise
  const live = await one(app, runId)
  t.match(live, { status: 'running' })
  for (const field of ['completedAt', 'durationMs', 'error']) t.notOk(field in live, field)
  run.hangUp()
  await run.ended
  t.match(await one(app, runId, '?waitMs=20000'), { status: 'cancelled', error: 'The client went away.', stopped: { reason: 'left' } })

  await answer(app, { [approvalId]: true })
  const done = await one(app, runId)
  t.match(done, { status: 'completed', output: 'Done.', error: undefined, stopped: undefined })
})

t.test('an answer waits for the end, and not longer than its time and its client', async (t) => {
  const model = await heldModel(t)
  const app = await build(t, model.parts)
  const live = await openRun(app, { ...userSays('go'), id: 'live' })
  await model.begun(1)
  const [runId] = await ids(app)
  t.match(await one(app, runId, '?waitMs=1'), { status: 'running' }, 'the time is over')
  const port = await listen(app)
  const gone = new AbortController()
  const left = fetch(`http://127.0.0.1:${port}/runs/${runId}?waitMs=60000`, { signal: gone.signal })
  const patient = one(app, runId, '?waitMs=60000')
  gone.abort()
  await t.rejects(left)
  model.finish(0)
  t.match(await patient, { status: 'completed', output: 'It is done.' })
  await live.ended
  t.match((await app.inject(`/runs/${runId}?waitMs=60001`)).json(), { statusCode: 400 })
})

t.test('an answer does not wait longer than until a person is asked', async (t) => {
  const tasks = await tasksOf(t, await build(t))
  const task = await tasks.create('write "x" to a.txt', { taskType: 'triggered', approval: { mode: 'always' } })
  const { runId: ofTask } = await tasks.post(`/${task.id}/run`)
  const wait = async () => (await fetch(`${tasks.url}/runs/${ofTask}?waitMs=60000`)).json()
  const asking = await wait() as any
  t.match(asking, { status: 'pending_approval', questions: [{ toolName: 'writeFile' }] }, 'at once when a person is waited for')
  t.same(await wait(), asking)
  await tasks.post(`/${task.id}/approve`, { approved: true })
  t.match(await wait(), { status: 'pending_approval', questions: [{ kind: 'result' }] })
  await tasks.post(`/${task.id}/approve`, { approved: true })
  t.match(await wait(), { status: 'completed' })
})

t.test('what is deleted is in no list', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const runId = runIdOf((await say(app, 'write "x" to a.txt', { id: 'one' })).events)
  const kept = runIdOf((await say(app, 'system info', { id: 'two' })).events)
  const task = await tasks.create('system info', { taskType: 'triggered' })
  await tasks.post(`/${task.id}/run`)
  const { runId: ofTask } = await events.until('task:complete')
  await app.inject({ method: 'DELETE', url: '/threads/one' })
  await tasks.call('DELETE', `/${task.id}`)
  t.same(await ids(app), [kept])
  for (const id of [runId, ofTask]) t.equal((await app.inject(`/runs/${id}`)).statusCode, 404)
})

t.test('a question of the agent and a structured answer stand in the run', async (t) => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const answers: Plan[] = [asking(), { toolCalls: [{ toolName: 'answer', input: { city: 'Bern' } }] }]
  const { app } = await withGateway(t, (_request, nth) => answers[nth])
  const reader = await readEvents(t, `http://127.0.0.1:${await listen(app)}`)
  const { events } = await say(app, 'go', { id: 'chat', options: { interactive: true, object: { schema } } })
  const [{ approvalId }] = questionsIn(events)
  const runId = runIdOf(events)
  t.match(await one(app, runId), { status: 'pending_approval', questions: [{ approvalId, kind: 'question', questions: [FORMAT] }] })
  t.match(await reader.until('approval:open'), { approvalId, kind: 'question', runId, threadId: 'chat', state: 'pending' })
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { answers: { format: 'md' } } })
  t.match(await reader.until('approval:closed'), { approvalId, state: 'answered' })
  t.match(await one(app, runId, '?waitMs=20000'), {
    status: 'completed',
    object: { city: 'Bern' },
    output: '{"city":"Bern"}',
    questions: []
  })
})

t.test('a run that waits for its application says so to those who wait, and the call is told when it opens and closes', async (t) => {
  const answers: Plan[] = [{ toolCalls: [{ toolName: 'openDocument', input: { name: 'a' } }] }, { text: 'It is open.' }]
  const { app } = await withGateway(t, (_request, nth) => answers[nth])
  const reader = await readEvents(t, `http://127.0.0.1:${await listen(app)}`)
  const inputSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const appTools = [{ name: 'openDocument', description: 'Opens a document', inputSchema, effect: 'read' }]
  const runId = runIdOf((await say(app, 'go', { id: 'chat', options: { appTools } })).events)
  const pending = [{ toolName: 'openDocument', status: 'pending' }]
  t.match(await one(app, runId, '?waitMs=20000'), { status: 'pending_approval', toolCalls: pending })
  const { toolCallId } = await reader.until('tool-call:open', { kind: 'app', runId, toolName: 'openDocument', state: 'open' })
  await app.inject({ method: 'POST', url: `/tool-calls/${toolCallId}`, payload: { output: { isOpen: true } } })
  await reader.until('tool-call:closed', { toolCallId, state: 'done' })
  t.match(await one(app, runId, '?waitMs=20000'), { status: 'completed', toolCalls: [{ toolCallId, output: { isOpen: true } }] })
})

t.test('a run that a kill cut is over when no reader comes back within a minute', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('first')
  // What a kill would leave.
  const home = `${app.home}-cut`
  cpSync(app.home, home, { recursive: true })
  const clock = fakeClock(Date.now())
  const next = await withGateway(t, () => ({ text: 'second' }), { home, cwd: app.cwd, clock })
  await clock.advance(60_000)
  const { body } = await next.app.inject('/run/chat/stream')
  t.match(parseEvents(body).slice(-2), [{ type: 'error', code: 'ERR_INTERRUPTED' }, { type: 'finish' }])
  t.equal(next.gateway.requests.length, 0)
})
