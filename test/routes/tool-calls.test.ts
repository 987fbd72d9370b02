import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { answerCall, calls, nextCall, openCalls, OPTIONS, READ, settled, toldResults, withTurns } from '../harness/app-tools.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { kinds, parseEvents, textOf } from '../harness/sse.ts'

const options = OPTIONS
const DONE = { text: ['Done.'] }

t.test('a call of an application ends the segment, and the run goes on with its result', async (t) => {
  const { app, gateway } = await withTurns(t, [calls('openDocument')])
  const { events } = await say(app, 'open it', { id: 'chat', options })
  t.same(kinds(events).slice(-4), ['tool-input-available', 'tool-call-request', 'finish-step', 'finish'])
  t.match(of(events, 'finish'), [{ finishReason: 'tool-calls' }])
  const [request] = of(events, 'tool-call-request')
  t.match(request, { toolName: 'openDocument', input: { name: 'Budget' }, expiresAt: Number })
  t.match(gateway.requests[0].body.tools.map(({ name }: any) => name).slice(-2), ['openDocument', 'saveDocument'])

  t.match(await openCalls(app, '?state=open&app=editor&threadId=chat'), [{ ...request, type: undefined, state: 'open', app: 'editor' }])
  t.same(await openCalls(app, '?app=other'), [])
  const answered = await answerCall(app, request.toolCallId, { output: { pages: 12 } })
  t.match(answered, { status: 200, body: { state: 'done', threadId: 'chat', continued: true } })
  t.match((await settled(app, 'chat')).messages.at(-1), { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] })
  t.match(toldResults(gateway), [{ type: 'json', value: { pages: 12 } }])
  t.same(await openCalls(app), [])
})

t.test('a client of the documented stream answers on /run by a tool message, as the SDK writes it', async (t) => {
  const { app, gateway } = await withTurns(t, [calls('openDocument', 'openDocument')])
  const first = of((await say(app, 'open both', { options })).events, 'tool-call-request').map(({ toolCallId }) => toolCallId)
  const result = (toolCallId: string, output: object) => ({ type: 'tool-result', toolCallId, toolName: 'openDocument', output })
  const say2 = (...content: object[]) => sayAll(app, [{ role: 'user', content: 'open both' }, { role: 'tool', content }])

  const half = await say2(result(first[0], { type: 'json', value: { pages: 1 } }))
  t.same(of(half.events, 'tool-call-request').map(({ toolCallId }) => toolCallId), [first[1]], 'the other call is asked again')
  const whole = await say2(result(first[1], { type: 'error-text', value: 'No such document.' }))
  t.equal(textOf(whole.events), 'Done.')
  t.match(toldResults(gateway), [{ type: 'json', value: { pages: 1 } }, { type: 'error-text', value: 'No such document.' }])
  const again = await say2(result(first[1], { type: 'error-text', value: 'No such document.' }))
  t.same(again.events, whole.events, 'the same answer again replays what followed')
  t.match(await say2(result(first[1], { type: 'json', value: {} })), { status: 409, body: { code: 'ERR_TOOL_CALL_ANSWERED' } })
})

t.test('a call that does more than read is approved first; in a mixed step it is handed out last', async (t) => {
  const { app } = await withTurns(t, [calls('listDirectory', 'saveDocument', 'openDocument', 'writeFile')])
  const { events } = await say(app, 'save', { id: 'chat', options })
  t.same(kinds(events).slice(-5), ['tool-input-available', 'tool-output-available', 'tool-approval-request', 'finish-step', 'finish'])
  t.match(of(events, 'tool-approval-request')[0].scopes.map(({ scope }: any) => scope), ['once', 'exact', 'tool'])
  t.same(await openCalls(app), [])

  const [save, write] = asked(events)
  const approved = await answer(app, { [save]: true, [write]: true })
  t.same(kinds(approved.events), ['start', 'tool-output-available', 'tool-call-request', 'finish'])
  t.match(of(approved.events, 'tool-output-available'), [{ toolName: 'writeFile' }])
  const [first, second] = of(approved.events, 'tool-call-request')
  t.same([first.toolName, second.toolName], ['saveDocument', 'openDocument'])
  t.match(await answerCall(app, first.toolCallId, { output: {} }), { status: 200, body: { continued: false } })
  t.match(await answerCall(app, second.toolCallId, { error: 'No.' }), { status: 200, body: { continued: true } })
  t.match((await settled(app, 'chat')).messages.at(-1).content, [{ text: 'Done.' }])
})

t.test('a denied call is never handed out', async (t) => {
  const { app, gateway } = await withTurns(t, [calls('saveDocument')])
  const { events } = await say(app, 'save', { options })
  const denied = await answer(app, { [asked(events)[0]]: false })
  t.equal(textOf(denied.events), 'Done.')
  t.same(await openCalls(app), [])
  t.match(toldResults(gateway), [{ type: 'execution-denied' }])
})

t.test('a grant for the tool lets later calls go unasked, until its definition changes', async (t) => {
  const { app } = await withTurns(t, [calls('saveDocument'), DONE, calls('saveDocument'), DONE, calls('saveDocument')])
  const [approvalId] = asked((await say(app, 'save', { id: 'chat', options })).events)
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: true, scope: 'tool' } })
  const first = await nextCall(app)
  await answerCall(app, first.toolCallId, { output: {} })
  await settled(app, 'chat')

  const messages = async () => (await app.inject('/threads/chat')).json().messages
  const second = await sayAll(app, [...await messages(), { role: 'user', content: 'save again' }], { id: 'chat', options })
  t.same(asked(second.events), [])
  await answerCall(app, of(second.events, 'tool-call-request')[0].toolCallId, { output: {} })
  await settled(app, 'chat')
  const changed = { ...options, appTools: [READ, { ...options.appTools[1], description: 'Saves and sends it.' }] }
  const third = await sayAll(app, [...await messages(), { role: 'user', content: 'once more' }], { id: 'chat', options: changed })
  t.equal(asked(third.events).length, 1)
})

t.test('a whole tool is granted to a conversation beforehand, without a sample, once its run has had the tool', async (t) => {
  const { app } = await withTurns(t, [DONE, calls('saveDocument')])
  const grant = async (toolName: string) => {
    const payload = { threadId: 'chat', toolName, scope: 'tool' }
    return (await app.inject({ method: 'POST', url: '/grants', payload })).json()
  }
  await say(app, 'hello', { id: 'chat', options })
  t.match(await grant('saveDocument'), { toolName: 'saveDocument', scope: 'tool', input: undefined, text: /with any input/ })
  t.match(await grant('sendDocument'), { code: 'ERR_GRANT_REFUSED', error: /no tool named "sendDocument"/ })
  const sendDocument = { ...options.appTools[1], name: 'sendDocument' }
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { settings: { options: { appTools: [sendDocument] } } } })
  t.match(await grant('sendDocument'), { toolName: 'sendDocument', scope: 'tool' }, 'or once its settings have it')
  await app.inject({ method: 'PUT', url: '/threads/chat', payload: { settings: {} } })
  const { messages } = (await app.inject('/threads/chat')).json()
  const { events } = await sayAll(app, [...messages, { role: 'user', content: 'save' }], { id: 'chat', options })
  t.same([asked(events).length, of(events, 'tool-call-request').length], [0, 1])
})

t.test('what the application may have changed is named as not covered by an undo', async (t) => {
  const { app } = await withTurns(t, [calls('openDocument', 'saveDocument')])
  const { events } = await say(app, 'save', { id: 'chat', options })
  const { runId } = of(events, 'start')[0].messageMetadata
  const notCovered = async () => (await app.inject(`/runs/${runId}/changes`)).json().notCovered
  t.same(await notCovered(), [])
  const handedOut = of((await answer(app, { [asked(events)[0]]: true })).events, 'tool-call-request')
  t.equal((await notCovered()).length, 1, 'from the moment on when it may be executed')
  for (const { toolCallId } of handedOut) await answerCall(app, toolCallId, { output: {} })
  await settled(app, 'chat')
  t.match(await notCovered(), [{ toolName: 'saveDocument', app: 'editor', toolCallId: handedOut[1].toolCallId }])
  t.equal((await notCovered()).length, 1, 'the tool that reads is not')
  t.match((await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload: {} })).json(), { notCovered: [{ app: 'editor' }] })
})

t.test('/run/sync lists the calls that wait', async (t) => {
  const { app } = await withTurns(t, [calls('openDocument')])
  const messages = [{ role: 'user', content: 'open' }]
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload: { messages, options } })
  t.match(response.json(), {
    finishReason: 'tool-calls',
    pendingApprovals: [],
    pendingToolCalls: [{ toolName: 'openDocument', input: { name: 'Budget' }, toolCallId: String, expiresAt: Number }]
  })
})

t.test('tools of an application that cannot be used are a 400 that says why', async (t) => {
  const app = await build(t)
  const wrong: Array<[object[], RegExp]> = [
    [[{ ...READ, name: 'readFile' }], /readFile.*name of another tool/],
    [[{ ...READ, name: 'updatePhase' }], /name of another tool/],
    [[{ ...READ, name: 'WriteFILE' }], /WriteFILE.*name of another tool/],
    [[{ ...READ, name: 'ｒeadFile' }], /name must be up to 64 letters/],
    [[READ, { ...READ, name: 'OPENDOCUMENT' }], /appTools\[1\].*name of another tool/],
    [[READ, READ], /appTools\[1\].*name of another tool/],
    [[{ ...READ, inputSchema: { type: 'string' } }], /"type": "object"/],
    [[{ ...READ, inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } }], /cannot be used/],
    [[{ ...READ, inputSchema: { type: 'object', description: 'x'.repeat(33_000) } }], /more than 32768 characters/],
    [[{ ...READ, effect: 'none' }], /effect/],
    [[{ ...READ, more: 1 }], /unknown field "more"/]
  ]
  for (const [appTools, why] of wrong) {
    for (const [url, body] of [['/run', { messages: [{ role: 'user', content: 'hi' }] }], ['/tasks', { goal: 'x' }]] as const) {
      const response = await app.inject({ method: 'POST', url, payload: { ...body, options: { appTools } } })
      t.equal(response.statusCode, 400)
      t.match(response.json().error, why)
    }
  }
})

t.test('PATCH /config sets what a tool of an application may do, from the next call on', async (t) => {
  const { app } = await withTurns(t, [calls('saveDocument'), DONE, calls('saveDocument')], { token: 'a-token' })
  const send = async (method: 'POST' | 'PATCH', url: string, payload: object) =>
    (await app.inject({ method, url, payload, headers: { authorization: 'Bearer a-token' } }))
  const run = async (...messages: object[]) => parseEvents((await send('POST', '/run', { messages, options })).body)
  const save = { role: 'user', content: 'save' }
  t.equal(asked(await run(save)).length, 1)
  t.equal((await send('PATCH', '/config', { permissions: { saveDocument: 'allow' } })).statusCode, 200)
  const events = await run(save, { role: 'assistant', content: 'a' }, save, { role: 'assistant', content: 'b' }, save)
  t.same([asked(events).length, of(events, 'tool-call-request').length], [0, 1])
})

t.test('config.permissions decide about tools of applications, too', async (t) => {
  const { app, gateway } = await withTurns(t, [calls('saveDocument')], { config: { permissions: { 'save*': 'allow', 'open*': 'deny' } } })
  const { events } = await say(app, 'save', { options })
  t.same(asked(events), [])
  t.equal(of(events, 'tool-call-request').length, 1)
  t.notOk(gateway.requests[0].body.tools.some(({ name }: any) => name === 'openDocument'))
})

const MINUTE = 60_000

/** A service that listens, on a clock of its own, with an open call in the thread `chat`. */
async function withCall (t: Parameters<typeof withTurns>[0], options: object = OPTIONS) {
  const clock = fakeClock()
  const service = await withTurns(t, [calls('openDocument')], { clock })
  await listen(service.app)
  const { events } = await say(service.app, 'open it', { id: 'chat', options })
  return { ...service, clock, id: of(events, 'tool-call-request')[0].toolCallId as string }
}
const done = async (app: App) => (await settled(app, 'chat')).messages.at(-1).content

t.test('a claim holds for a minute, is renewed by its instance, and keeps others away', async (t) => {
  const { app, clock, id } = await withCall(t)
  const claimed = await answerCall(app, id, { claim: 'window-1' })
  const claim = { instance: 'window-1', until: clock.now() + MINUTE }
  t.match(claimed, { status: 200, body: { state: 'claimed', continued: false, claim } })
  t.match(await answerCall(app, id, { claim: 'window-2' }), { status: 409, body: { code: 'ERR_TOOL_CALL_CLAIMED', error: /window-1/ } })
  t.match(await answerCall(app, id, { output: {}, claim: 'window-2' }), { status: 409, body: { code: 'ERR_TOOL_CALL_CLAIMED' } })
  t.same(await openCalls(app, '?state=open'), [])
  t.match(await openCalls(app, '?state=claimed'), [{ toolCallId: id }])

  await clock.advance(MINUTE - 1)
  t.match(await answerCall(app, id, { claim: 'window-1' }), { status: 200 })
  await clock.advance(MINUTE - 1)
  t.match(await answerCall(app, id, { claim: 'window-1', output: { pages: 3 } }), { status: 200, body: { state: 'done', continued: true } })
  t.match(await done(app), [{ text: 'Done.' }])
})

t.test('a claim that is not renewed makes the outcome unknown; the call is never handed out again', async (t) => {
  const { app, gateway, clock, id } = await withCall(t)
  await answerCall(app, id, { claim: 'window-1' })
  await clock.advance(MINUTE)
  t.match(await done(app), [{ text: 'Done.' }], 'the run goes on by itself')
  t.match(toldResults(gateway), [{ type: 'error-text', value: /Outcome unknown/ }])
  for (const body of [{ claim: 'window-1' }, { output: {} }]) {
    t.match(await answerCall(app, id, body), { status: 410, body: { code: 'ERR_TOOL_CALL_EXPIRED', error: /not renewed/ } })
  }
  t.same(await openCalls(app), [])
})

t.test('a claim that ran out while the service was off is unknown, too', async (t) => {
  const { app, gateway, clock, id } = await withCall(t)
  await answerCall(app, id, { claim: 'window-1' })
  await app.close()
  await clock.advance(MINUTE)
  const { app: next } = await withTurns(t, [calls('openDocument')], { clock, home: app.home, cwd: app.cwd, gatewayBaseURL: gateway.url })
  await listen(next)
  t.match(await done(next), [{ text: 'Done.' }])
  t.match(await answerCall(next, id, { output: {} }), { status: 410 })
})

t.test('a call that nobody answers in its time is an error that the model is told', async (t) => {
  const { app, gateway, clock, id } = await withCall(t, { appTools: [{ ...READ, timeoutMs: 5_000 }] })
  await clock.advance(5_000)
  t.match(await done(app), [{ text: 'Done.' }])
  t.match(toldResults(gateway), [{ type: 'error-text', value: /did not answer in time/ }])
  t.match(await answerCall(app, id, { output: {} }), { status: 410, body: { code: 'ERR_TOOL_CALL_EXPIRED' } })
})

t.test('the first answer is kept; the same one again is welcome', async (t) => {
  const { app, id } = await withCall(t)
  t.match(await answerCall(app, id, { output: { a: 1, b: 2 } }), { status: 200, body: { continued: true } })
  t.match(await answerCall(app, id, { output: { b: 2, a: 1 } }), { status: 200, body: { state: 'done', continued: true } })
  await settled(app, 'chat')
  t.match(await answerCall(app, id, { output: { b: 2, a: 1 } }), { status: 200 })
  for (const body of [{ output: { a: 2 } }, { error: 'No.' }, { claim: 'window-1' }]) {
    t.match(await answerCall(app, id, body), { status: 409, body: { code: 'ERR_TOOL_CALL_ANSWERED' } })
  }
})

t.test('answers of the wrong shape or size are refused, and the call stays open', async (t) => {
  const { app, id } = await withCall(t)
  const wrong = [{}, { output: 'text' }, { output: [] }, { output: null }, { output: {}, error: 'x' }, { error: '' }, { claim: '' }]
  for (const body of wrong) {
    t.equal((await answerCall(app, id, body)).status, 400, JSON.stringify(body))
  }
  t.equal((await answerCall(app, id, { output: { text: 'x'.repeat(1024 * 1024 - 5) } })).status, 413)
  const unknown = await answerCall(app, '01a1fe30-21c4-7d53-9f10-b1d0f9a1c7e2', { output: {} })
  t.match(unknown, { status: 404, body: { code: 'ERR_TOOL_CALL_NOT_FOUND' } })
  t.equal((await answerCall(app, 'call-1', { output: {} })).status, 404)
  t.match(await openCalls(app), [{ toolCallId: id, state: 'open' }])
})

t.test('the id of an approval is not the id of a call', async (t) => {
  const { app } = await withTurns(t, [calls('saveDocument')])
  const [approvalId] = asked((await say(app, 'save', { options: OPTIONS })).events)
  t.equal((await answerCall(app, approvalId, { output: {} })).status, 404)
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: true } })
  const call = await nextCall(app)
  const decided = await app.inject({ method: 'POST', url: `/approvals/${call.toolCallId}`, payload: { approved: true } })
  t.equal(decided.statusCode, 404)
})

t.test('a new message of the user withdraws the call, and the model hears that its outcome is open', async (t) => {
  const { app, gateway, id } = await withCall(t)
  await say(app, 'leave it', { id: 'chat', options: OPTIONS })
  t.match(await answerCall(app, id, { output: {} }), { status: 409, body: { code: 'ERR_TOOL_CALL_WITHDRAWN', error: /new message/ } })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /did not say how it ended/)
  t.notOk((await openCalls(app)).some(({ toolCallId }) => toolCallId === id))
})

t.test('calls are listed in pages', async (t) => {
  const { app } = await withTurns(t, [calls('openDocument', 'openDocument', 'openDocument')])
  await say(app, 'open', { options: OPTIONS })
  const all = (await openCalls(app)).map(({ toolCallId }) => toolCallId)
  const first = (await app.inject('/tool-calls?limit=2')).json()
  const second = (await app.inject(`/tool-calls?limit=2&cursor=${first.nextCursor}`)).json()
  t.same([first, second].map(({ toolCalls }) => toolCalls.map(({ toolCallId }: any) => toolCallId)), [all.slice(0, 2), all.slice(2)])
  t.notOk(second.nextCursor)
})
