import t from 'tap'
import type { App } from '../../app.ts'
import { asked, of, say } from '../harness/agent.ts'
import { answerCall, calls, nextCall, openCalls, OPTIONS, READ, settled, toldResults, withTurns } from '../harness/app-tools.ts'
import { fakeClock } from '../harness/clock.ts'
import { listen } from '../harness/raw.ts'

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
