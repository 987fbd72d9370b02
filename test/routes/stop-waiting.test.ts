import t from 'tap'
import { asked, of, say } from '../harness/agent.ts'
import { decide, post, waiting } from '../harness/approval-doors.ts'
import { answerCall, calls, openCalls, OPTIONS, withTurns } from '../harness/app-tools.ts'
import { readEvents } from '../harness/event-reader.ts'
import { asking, questionsIn } from '../harness/questions.ts'
import { listen } from '../harness/raw.ts'
import type { Plan } from '../fakes/gateway.ts'

type Test = Parameters<typeof withTurns>[0]

/** A conversation whose run waits after this step, and a reader of the events that follow. */
async function withWaiting (t: Test, step: Plan) {
  const service = await withTurns(t, [step, { text: 'Another matter.' }])
  const { events } = await say(service.app, 'go', { id: 'chat', options: { ...OPTIONS, interactive: true } })
  const reader = await readEvents(t, `http://127.0.0.1:${await listen(service.app)}`)
  return { ...service, events, runId: of(events, 'start')[0].messageMetadata.runId as string, reader }
}

t.test('a run that waits for an approval is stopped by the id of its thread; a later answer moves nothing', async (t) => {
  const { app, gateway, events, runId, reader } = await withWaiting(t, calls('writeFile', 'saveDocument'))
  const [write, save] = asked(events)
  t.match(await decide(app, save, { approved: false }), { status: 200, body: { continued: false } })
  t.same(await post(app, '/run/chat/stop', {}), { status: 200, body: { ok: true, threadId: 'chat', runId } })
  t.match(await reader.until('approval:closed', { approvalId: write }), { state: 'withdrawn' })
  t.match(await reader.until('run:end'), { runId, status: 'stopped' })
  t.same(await waiting(app), [])
  t.match((await app.inject(`/runs/${runId}`)).json(), { status: 'stopped', error: 'The run was stopped.', questions: [] })
  t.equal((await app.inject('/threads/chat')).json().status, 'idle')

  t.match(await decide(app, write, { approved: true }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN', error: /was stopped/ } })
  t.match(await decide(app, save, { approved: false }), { status: 409, body: { code: 'ERR_CONVERSATION_MOVED_ON', error: /was stopped/ } })
  t.match(await post(app, '/run/chat/stop', {}), { status: 404, body: { code: 'ERR_NO_LIVE_RUN' } })
  t.match(await post(app, `/run/${runId}/stop`, {}), { status: 404, body: { code: 'ERR_NO_LIVE_RUN' } })
  t.equal(gateway.requests.length, 1)
})

t.test('a run that waits for answers is stopped by its own id, and the next message tells the model', async (t) => {
  const { app, gateway, events, runId } = await withWaiting(t, asking())
  const [{ approvalId }] = questionsIn(events)
  t.same(await post(app, `/run/${runId}/stop`, {}), { status: 200, body: { ok: true, threadId: 'chat', runId } })
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
  await say(app, 'another matter', { id: 'chat' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /The user did not answer .*Which format should it have/)
  await say(app, 'and another', { id: 'chat' })
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /The user did not answer/, 'it is told once')
})

t.test('a call that the application executes is withdrawn by a stop, and the model is warned of its outcome', async (t) => {
  const { app, gateway, runId, reader } = await withWaiting(t, calls('openDocument'))
  const [{ toolCallId }] = await openCalls(app)
  await answerCall(app, toolCallId, { claim: 'window' })
  t.match(await post(app, '/run/chat/stop', {}), { status: 200, body: { runId } })
  t.match(await reader.until('tool-call:closed'), { approvalId: toolCallId, state: 'withdrawn' })
  t.same(await openCalls(app), [])
  t.match(await answerCall(app, toolCallId, { claim: 'window', output: {} }), { status: 409, body: { code: 'ERR_TOOL_CALL_WITHDRAWN' } })
  await app.close()

  const next = await withTurns(t, [], { home: app.home, cwd: app.cwd, gatewayBaseURL: gateway.url })
  await say(next.app, 'another matter', { id: 'chat' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /openDocument.*was given to the application, which did not say how/)
})

t.test('a stop before fifty answers wins against all of them', async (t) => {
  const { app, gateway, events, runId } = await withWaiting(t, asking())
  const [{ approvalId }] = questionsIn(events)
  const [stopped, ...answers] = await Promise.all([
    post(app, '/run/chat/stop', {}),
    ...Array.from({ length: 50 }, () => decide(app, approvalId, { answers: { format: 'md' } }))
  ])
  t.match(stopped, { status: 200, body: { runId } })
  t.same(new Set(answers.map(({ status }) => status)), new Set([409]))
  t.equal(gateway.requests.length, 1, 'the model is not asked again')
  t.same(await waiting(app), [])
})
