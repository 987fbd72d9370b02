import t from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, isLastWord, say, of } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { openRun, readRun, userSays } from '../harness/reader.ts'
import { kinds, parseEvents, textOf, told } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'
import type { App } from '../../app.ts'
import { decide, post as postTo, waiting } from '../harness/approval-doors.ts'
import { answerCall, calls, openCalls, OPTIONS, withTurns } from '../harness/app-tools.ts'
import { readEvents } from '../harness/event-reader.ts'
import { asking, questionsIn } from '../harness/questions.ts'
import { listen } from '../harness/raw.ts'

const post = (app: App, url: string, payload?: object) => app.inject({ method: 'POST', url, payload })

/** A model that says "first", waits for the test, and goes on. */
function gate () {
  const opened = Promise.withResolvers<void>()
  return { open: opened.resolve, opened: opened.promise }
}

const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }

t.test('a resumable run lives on without its client and is told again from its first event', async (t) => {
  const wait = gate()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) return { text: 'first ', toolCalls: [{ toolName: 'systemInfo', input: {} }] }
    await wait.opened
    return { text: 'second' }
  })
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('tool-output-available')
  run.hangUp()
  const again = await readRun(app, '/run/chat/stream')
  await again.says('tool-output-available')
  wait.open()
  await again.ended
  t.equal(textOf(again.events), 'first second')
  t.equal(again.events[0].type, 'start')
  t.match(again.events.at(-1), { type: 'finish', finishReason: 'stop' })
  t.equal(gateway.requests.length, 2, 'the model was not asked again')
  t.equal((await app.inject('/run/chat/stream')).statusCode, 204, 'over is over')
})

t.test('two readers follow one run and see the same', async (t) => {
  const wait = gate()
  const { app } = await withGateway(t, async () => {
    await wait.opened
    return { text: 'one answer for both' }
  })
  const one = await openRun(app, { ...userSays('go'), id: 'chat' })
  await one.says('start')
  const two = await readRun(app, '/run/chat/stream')
  await two.says('start')
  wait.open()
  await Promise.all([one.ended, two.ended])
  t.same(one.events, two.events)
})

t.test('a run is followed, steered and stopped by its own id as by that of its thread; a thread with that id is meant first', async (t) => {
  const { app } = await withGateway(t, () => stalled)
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('first ')
  const { runId } = run.events[0].messageMetadata
  const followed = await readRun(app, `/run/${runId}/stream`)
  await followed.says('first ')
  t.match((await post(app, `/run/${runId}/steer`, { message: 'left' })).json(), { ok: true, threadId: 'chat', runId })

  await app.inject({ method: 'PUT', url: `/threads/${runId}`, payload: { title: 'Named like a run' } })
  t.equal((await app.inject(`/run/${runId}/stream`)).statusCode, 204)
  t.match((await post(app, `/run/${runId}/stop`)).json(), { code: 'ERR_NO_LIVE_RUN' })
  await app.inject({ method: 'DELETE', url: `/threads/${runId}` })

  t.match((await post(app, `/run/${runId}/stop`)).json(), { ok: true, threadId: 'chat', runId })
  t.equal(await followed.ended, 'whole')
})

t.test('a run that the shutdown ends is interrupted: its thread and its replay have what it said, and both are the same', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({
    parts: [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'first ' },
      { type: 'tool-input-start', id: 'c', toolName: 'listDirectory' },
      { type: 'tool-input-delta', id: 'c', delta: '{"pa' },
      { type: 'tool-input-end', id: 'c' }
    ],
    ending: 'stall'
  }))
  const message = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }
  const run = await openRun(app, { messages: [message], id: 'chat' })
  await run.says('first ')
  await run.says('{\\"pa')
  await app.close()
  t.match(run.text, '"type":"abort"')

  const next = await build(t, { home: app.home, cwd: app.cwd, gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
  const { messages } = (await next.inject('/threads/chat')).json()
  const stopped = { type: 'data-stopped', data: { reason: 'interrupted' } }
  t.match(messages[1].parts, [{ type: 'step-start' }, { type: 'text', text: 'first ', state: 'done' }, stopped])
  t.equal(messages[1].parts.length, 3, 'the call whose input was cut is left out')
  const replayed = parseEvents((await next.inject('/run/chat/stream')).body.replace(/data: \[DONE\]\n\n$/, ''))
  t.same(kinds(replayed), ['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'error', 'finish'])
})

t.test('nothing under way: 204 for a follower, 404 for stop and steer', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'hi' }))
  t.equal((await app.inject('/run/nobody/stream')).statusCode, 204)
  t.match((await post(app, '/run/nobody/stop')).json(), { statusCode: 404, code: 'ERR_NO_LIVE_RUN', error: /nothing to stop/ })
  t.match((await post(app, '/run/nobody/steer', { message: 'left' })).json(), { statusCode: 404 })
})

t.test('a run can be stopped; its stream says so, and the conversation goes on', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? stalled : { text: 'next' })
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('first ')
  t.match((await post(app, '/run/chat/stop')).json(), { ok: true, threadId: 'chat' })
  t.equal(await run.ended, 'whole')
  const stopped = { reason: 'user' }
  t.match(run.events.slice(-3), [{ type: 'abort', reason: 'stop' }, { type: 'data-stopped', data: stopped }, { type: 'finish', stopped }])
  t.equal(await gateway.requests[0].ended, 'aborted')
  t.equal(textOf((await say(app, 'go', { id: 'chat' })).events), 'next')
})

t.test('what is said to a live run reaches the model at its next step', async (t) => {
  const wait = gate()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) {
      await wait.opened
      return { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
    }
    return { text: 'as you say' }
  })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('start')
  t.match((await post(app, '/run/chat/steer', { message: 'turn left' })).json(), { ok: true, threadId: 'chat' })
  wait.open()
  await run.ended
  t.notMatch(JSON.stringify(gateway.requests[0].body.prompt), 'turn left')
  t.match(gateway.requests[1].body.prompt.at(-1), { role: 'user', content: [{ text: 'turn left' }] })
})

t.test('what is said while the last answer is written is still heard', async (t) => {
  const wait = gate()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) await wait.opened
    return { text: `answer ${nth}` }
  })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('start')
  await post(app, '/run/chat/steer', { message: 'one more thing' })
  wait.open()
  await run.ended
  t.equal(textOf(run.events), 'answer 0answer 1')
  const said = kinds(run.events)
  t.same(said.slice(0, 9), [
    ...['start', 'start-step', 'data-steer', 'text-start', 'text-delta', 'text-end', 'finish-step'],
    ...['data-steer', 'step-boundary']
  ])
  t.equal(gateway.requests.length, 2)
})

t.test('what is said while a question is put is heard after the answer, also after a restart', async (t) => {
  for (const restarted of [false, true]) {
    await t.test(restarted ? 'restarted' : 'at once', async (t) => {
      const wait = gate()
      const { app, gateway } = await withGateway(t, async (_request, nth) => {
        if (nth > 0) return { text: 'as you say' }
        await wait.opened
        return { toolCalls: [{ toolName: 'runCommand', input: { command: 'true' } }] }
      })
      const run = await openRun(app, { ...userSays('go'), id: 'chat' })
      await run.says('start')
      await post(app, '/run/chat/steer', { message: 'turn left' })
      wait.open()
      await run.ended
      const service = restarted
        ? await app.close().then(() => build(t, { home: app.home, cwd: app.cwd, gatewayKey: 'the-key', gatewayBaseURL: gateway.url }))
        : app
      await answer(service, { [asked(run.events)[0]]: true })
      t.match(gateway.requests[1].body.prompt.slice(2), [{ role: 'assistant' }, { role: 'tool' }, {
        role: 'user',
        content: [{ text: 'turn left' }]
      }])
      t.equal(gateway.requests.length, 2)
    })
  }
})

t.test('what is said while the answer is reviewed is heard', async (t) => {
  const reviewing = gate()
  const wait = gate()
  const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: `answer ${nth}` }), {
    config: { analysis: true },
    async structured (name) {
      if (name === 'analysis') return { object: { complexity: 'complex', goal: 'g', thinking: 't', qualityCriteria: [] } }
      reviewing.open()
      await wait.opened
      return { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] } }
    }
  })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await reviewing.opened
  t.equal((await post(app, '/run/chat/steer', { message: 'turn left' })).statusCode, 200)
  wait.open()
  await run.ended
  t.equal(textOf(run.events), 'answer 0answer 1')
  t.match(gateway.requests.at(-1)!.body.prompt.at(-1), { role: 'user', content: [{ text: 'turn left' }] })
})

t.test('what is said after the last step with tools is heard', async (t) => {
  const wait = gate()
  const { app, gateway } = await withGateway(t, async (request) => {
    if (!isLastWord(request)) return { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
    await wait.opened
    return { text: 'enough' }
  }, { config: { agent: { steps: { conversation: 2 } } } })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  while (gateway.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal((await post(app, '/run/chat/steer', { message: 'turn left' })).statusCode, 200)
  wait.open()
  await run.ended
  t.match(gateway.requests.at(-1)!.body.prompt.at(-2), { role: 'user', content: [{ text: 'turn left' }] })
})

t.test('messages that wait are bounded, and must say something', async (t) => {
  const { app } = await withGateway(t, () => stalled)
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('first')
  for (const payload of [{}, { message: '' }, { message: ' \n' }, { message: 5 }, { message: 'x', extra: 1 }]) {
    t.equal((await post(app, '/run/chat/steer', payload)).statusCode, 400)
  }
  for (let n = 0; n < 20; n++) t.equal((await post(app, '/run/chat/steer', { message: `${n}` })).statusCode, 200)
  t.match((await post(app, '/run/chat/steer', { message: 'one too many' })).json(), { statusCode: 429 })
  run.hangUp()
})

t.test('one message with the id of its thread continues the stored conversation, also after a restart', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: `answer ${nth}` }))
  await say(app, 'my first question', { id: 'chat' })
  const payload = { id: 'chat', message: { role: 'user', content: 'my second question' } }
  t.equal(textOf(parseEvents((await post(app, '/run', payload)).body)), 'answer 1')
  t.match(gateway.requests[1].body.prompt.slice(1), [
    { role: 'user', content: [{ text: 'my first question' }] },
    { role: 'assistant', content: [{ text: 'answer 0' }] },
    { role: 'user', content: [{ text: 'my second question' }] }
  ])
  t.match((await post(app, '/run', { message: payload.message })).json(), { statusCode: 400, error: /id/ })
  t.match((await post(app, '/run', { id: 'chat' })).json(), { statusCode: 400, error: /messages/ })
})

type Test = Parameters<typeof withTurns>[0]

/** A conversation whose run waits after this step, and a reader of the events that follow. */
async function withWaiting (t: Test, step: Plan) {
  const service = await withTurns(t, [step, { text: 'Another matter.' }])
  const { events } = await say(service.app, 'go', { id: 'chat', options: { ...OPTIONS, interactive: true } })
  const reader = await readEvents(t, `http://127.0.0.1:${await listen(service.app)}`)
  return { ...service, events, runId: of(events, 'start')[0].messageMetadata.runId as string, reader }
}

/** The one call of a conversation as a chat that loads it gets it, parts of what waited, and the call's result in ModelMessages. */
async function readCall (app: App) {
  const read = async (protocol: string) => (await app.inject(`/threads/chat?protocol=${protocol}`)).json().messages
  const parts: any[] = (await read('ui')).at(-1).parts
  const contents = (await read('documented')).flatMap(({ content }: any) => Array.isArray(content) ? content : [])
  return {
    call: parts.find(({ toolCallId }) => toolCallId !== undefined),
    others: parts.filter(({ type }) => type === 'data-approval'),
    outcome: contents.find(({ type }: any) => type === 'tool-result')
  }
}

t.test('a run that waits for an approval is stopped by the id of its thread; a later answer moves nothing', async (t) => {
  const { app, gateway, events, runId, reader } = await withWaiting(t, calls('writeFile', 'saveDocument'))
  const [write, save] = asked(events)
  t.match(await decide(app, save, { approved: false }), { status: 200, body: { continued: false } })
  t.match(await postTo(app, '/run/chat/stop?waiting=keep', {}), { status: 404, body: { code: 'ERR_NO_LIVE_RUN' } })
  const message = { role: 'user', content: 'another matter' }
  t.match(await postTo(app, '/run', { id: 'chat', message, waiting: 'keep' }), { status: 409, body: { code: 'ERR_CONVERSATION_WAITS' } })
  t.equal((await waiting(app)).length, 1, 'it still waits')
  t.same(await postTo(app, '/run/chat/stop', {}), { status: 200, body: { ok: true, threadId: 'chat', runId } })
  t.match(await reader.until('approval:closed', { approvalId: write }), { state: 'withdrawn' })
  t.match(await reader.until('run:end'), { runId, status: 'stopped' })
  t.same(await waiting(app), [])
  t.match((await app.inject(`/runs/${runId}`)).json(), { status: 'stopped', error: 'The run was stopped.', questions: [] })
  t.equal((await app.inject('/threads/chat')).json().status, 'idle')

  t.match(await decide(app, write, { approved: true }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN', error: /was stopped/ } })
  t.match(await decide(app, save, { approved: false }), { status: 409, body: { code: 'ERR_CONVERSATION_MOVED_ON', error: /was stopped/ } })
  t.match(await postTo(app, '/run/chat/stop', {}), { status: 404, body: { code: 'ERR_NO_LIVE_RUN' } })
  t.match(await postTo(app, `/run/${runId}/stop`, {}), { status: 404, body: { code: 'ERR_NO_LIVE_RUN' } })
  t.equal(gateway.requests.length, 1)
})

t.test('a run that waits for answers is stopped by its own id, and the next message tells the model', async (t) => {
  const { app, gateway, events, runId } = await withWaiting(t, asking())
  const [{ approvalId }] = questionsIn(events)
  t.same(await postTo(app, `/run/${runId}/stop`, {}), { status: 200, body: { ok: true, threadId: 'chat', runId } })
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
  const { call, others, outcome } = await readCall(app)
  t.match(call, { type: 'tool-askUser', state: 'output-error', errorText: /moved on without answering/ })
  t.match(others, [{ type: 'data-approval', data: { approvalId, kind: 'question', state: 'withdrawn' } }])
  t.match(outcome, { toolCallId: call.toolCallId, output: { type: 'error-text', value: call.errorText } })
  await say(app, 'another matter', { id: 'chat' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /The user did not answer .*Which format should it have/)
  await say(app, 'and another', { id: 'chat' })
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /The user did not answer/, 'it is told once')
})

t.test('a call that the application executes is withdrawn by a stop, and the model is warned of its outcome', async (t) => {
  const { app, gateway, runId, reader } = await withWaiting(t, calls('openDocument'))
  const [{ toolCallId }] = await openCalls(app)
  await answerCall(app, toolCallId, { claim: 'window' })
  t.match(await postTo(app, '/run/chat/stop', {}), { status: 200, body: { runId } })
  t.match(await reader.until('tool-call:closed'), { approvalId: toolCallId, state: 'withdrawn' })
  t.same(await openCalls(app), [])
  const { call, outcome } = await readCall(app)
  t.match(call, { toolCallId, state: 'output-error', errorText: /before the application gave a result/ })
  t.match(outcome, { toolCallId, output: { value: call.errorText } })
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
    postTo(app, '/run/chat/stop', {}),
    ...Array.from({ length: 50 }, () => decide(app, approvalId, { answers: { format: 'md' } }))
  ])
  t.match(stopped, { status: 200, body: { runId } })
  t.same(new Set(answers.map(({ status }) => status)), new Set([409]))
  t.equal(gateway.requests.length, 1, 'the model is not asked again')
  t.same(await waiting(app), [])
})

t.test('a request that is sent again with its key reads the same run: while it lasts, and when it is over', async (t) => {
  const wait = gate()
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) return { text: 'I may write. ', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] }
    if (nth === 1) await wait.opened
    return { text: `answer ${nth}` }
  }, { clock })
  const key = { 'idempotency-key': 'the first' }
  const send = async (body: object, headers: Record<string, string> = key) =>
    app.inject({ method: 'POST', url: '/run', payload: body, headers })
  const runIdOf = ({ headers }: { headers: object }) => (headers as Record<string, string>)['x-run-id']
  const body = { id: 'chat', ...userSays('go') }

  const both = await Promise.all([send(body), send(body)])
  t.equal(runIdOf(both[0]), runIdOf(both[1]), 'two at once begin one run')
  t.same(told(parseEvents(both[0].body)), told(parseEvents(both[1].body)))
  const [approvalId] = asked(parseEvents(both[0].body))

  const answered = { messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }] }
  const other = { 'idempotency-key': 'the answer' }
  const first = await openRun(app, answered, '/run', other)
  first.hangUp()
  const second = await openRun(app, answered, '/run', other)
  await second.says('tool-output-available')
  wait.open()
  await second.ended
  t.equal(textOf(second.events), 'answer 1', 'its run went on without a reader')
  t.same(told(parseEvents((await send(body)).body)), told(parseEvents(both[0].body)), 'the first request gets its own part of the run')
  t.equal(textOf(parseEvents((await send(answered, other)).body)), 'answer 1')
  const sync = async () => (await app.inject({ method: 'POST', url: '/run/sync', payload: answered, headers: other })).json()
  t.match(await sync(), { text: 'answer 1', runId: runIdOf(both[0]), finishReason: 'stop' }, 'as one object, too')
  t.equal(gateway.requests.length, 2)

  t.match((await send({ ...body, cwd: '/' })).json(), { code: 'ERR_IDEMPOTENCY_KEY_REUSED', statusCode: 422 })
  await app.inject({ method: 'DELETE', url: '/threads/chat' })
  t.match((await send(body)).json(), { code: 'ERR_RUN_GONE', statusCode: 410, error: /Idempotency-Key/ })
  await clock.advance(24 * 60 * 60 * 1000)
  t.equal(textOf(parseEvents((await send(body)).body)), 'answer 2', 'a day later the key is free')

  const sent = () => app.inject({ method: 'POST', url: '/run/sync', payload: userSays('in one'), headers: { 'idempotency-key': 'script' } })
  const [one, two] = await Promise.all([sent(), sent()])
  t.match(one.json(), { text: 'answer 3' })
  t.same(two.json(), one.json(), 'a script gets the one answer twice')
})
