import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { answer, asked, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { withGateway } from '../harness/with-gateway.ts'

const stalled = { text: ['and then ', 'nothing'], ending: 'stall' as const, after: 4 }

t.test("a client that hangs up ends the model's call", async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled)
  const run = await openRun(app, userSays('go'))
  await run.says('and then')
  run.hangUp()
  t.equal(await gateway.requests[0].ended, 'aborted')
})

t.test('a client that hangs up ends the command that runs for it, and the conversation is free again', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'runCommand', input: { command: 'touch begun; sleep 60; touch finished' } }] }
      : { text: 'hello again' }, { config: { permissions: { runCommand: 'allow' } } })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('tool-input-available')
  while (!existsSync(`${app.cwd}/begun`)) await new Promise(setImmediate)
  run.hangUp()
  const again = await say(app, 'go', { id: 'chat' })
  t.equal(again.status, 200, JSON.stringify(again.body))
  t.notOk(existsSync(`${app.cwd}/finished`))
})

t.test('an approved tool that was cut off has an unknown outcome and is not run again', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'runCommand', input: { command: 'printf x >> effects.log; touch begun; sleep 60' } }] }
      : { text: 'I had better look' })
  const [id] = asked((await say(app, 'go')).events)
  const response = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: id, approved: true }] }
  const run = await openRun(app, { messages: [response] }, '/run/approve')
  while (!existsSync(`${app.cwd}/begun`)) await new Promise(setImmediate)
  run.hangUp()
  // An answer that arrives before the service has noticed that would follow the run instead.
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
  const { events } = await answer(app, { [id]: true })
  t.match(events, [{ type: 'start' }, { type: 'tool-output-error', errorText: /outcome unknown/i }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
})

t.test('a second run of a live conversation is a 409 once it has not ended for 2 s, another conversation is not in its way', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? stalled : { text: 'hi' })
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await run.says('and then')
  t.match(await say(app, 'me too', { id: 'chat' }), { status: 409, body: { code: 'ERR_CONVERSATION_BUSY' } })
  t.match(await say(app, 'me too', { id: 'another' }), { status: 200 })
  run.hangUp()
})

t.test('a second run of a conversation whose run goes on without readers is a 409 at once', async (t) => {
  const { app } = await withGateway(t, () => stalled, { clock: fakeClock() })
  const run = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  await run.says('and then')
  t.match(await say(app, 'me too', { id: 'chat' }), { status: 409, body: { code: 'ERR_CONVERSATION_BUSY' } })
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
})

t.test('runs are bounded: the one too many is a 429', async (t) => {
  const { app } = await withGateway(t, () => stalled, { config: { limits: { liveRuns: 3 } } })
  const runs = await Promise.all([1, 2, 3].map(() => openRun(app, userSays('go'))))
  for (const run of runs) await run.says('and then')
  t.match(await say(app, 'me too'), { status: 429, body: { code: 'ERR_TOO_MANY_RUNS' } })
  for (const run of runs) run.hangUp()
})

t.test('also of those that come at the same moment only so many begin', async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled, { config: { limits: { liveRuns: 3 } } })
  const runs = await Promise.all(Array.from({ length: 12 }, () => openRun(app, userSays('go'))))
  t.same(runs.map(({ response }) => response.statusCode).sort(), [...Array(3).fill(200), ...Array(9).fill(429)])
  t.equal(app.agent.activeRunCount, 3)
  while (gateway.requests.length < 3) await new Promise(setImmediate)
  for (const run of runs) run.hangUp()
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
  t.equal(gateway.requests.length, 3)
})

t.test('silence is broken by a comment every fifteen seconds', async (t) => {
  const clock = fakeClock()
  const sleep = { toolCalls: [{ toolName: 'runCommand', input: { command: 'sleep 60' } }] }
  const { app } = await withGateway(t, () => sleep, { clock, config: { permissions: { runCommand: 'allow' } } })
  const run = await openRun(app, userSays('go'))
  await clock.sleeper(30_000)
  t.notMatch(run.text, ': ping')
  await clock.advance(15_000)
  await run.says(': ping\n\n')
  await clock.advance(15_000)
  await run.says(': ping\n\n: ping\n\n')
  run.hangUp()
})

t.test('a reader that stops reading holds the model back, and is dropped after thirty seconds', async (t) => {
  const clock = fakeClock()
  const piece = 'x'.repeat(64 * 1024)
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => nth === 0 ? { text: Array.from({ length: 200 }, () => piece) } : { text: 'quick' },
    { clock }
  )
  const run = await openRun(app, userSays('go'))
  await run.says(piece)
  run.response.pause()
  t.match(await say(app, 'me too'), { status: 200 }, 'others are served meanwhile')
  const dropped = new AbortController()
  void run.ended.then(() => dropped.abort())
  void gateway.requests[0].ended.then(() => dropped.abort())
  while (!dropped.signal.aborted) await clock.advance(1_000)
  t.ok(clock.monotonic() >= 30_000, `after ${clock.monotonic()} ms`)
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate) // its run ends, too
})

t.test('a slow reader gets everything in the end', async (t) => {
  const pieces = Array.from({ length: 100 }, (_, n) => `${n} `.padEnd(32 * 1024, '.'))
  const { app } = await withGateway(t, () => ({ text: pieces }))
  const run = await openRun(app, userSays('go'))
  const slower = setInterval(() => {
    run.response.pause()
    setImmediate(() => run.response.resume())
  }, 1)
  t.equal(await run.ended, 'whole')
  clearInterval(slower)
  const text = run.events.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('')
  t.equal(text.length, pieces.join('').length)
})

t.test('a request that is still arriving when the service shuts down is refused, and begins no run that nobody would end', async (t) => {
  const { app, gateway } = await withGateway(t, () => stalled)
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const body = JSON.stringify(userSays('go'))
  const late = request(new URL('/run', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length }
  })
  const answered = once(late, 'response') as Promise<[IncomingMessage]>
  const arriving = once(app.server, 'request')
  late.write(body.slice(0, 10))
  await arriving
  const closed = app.close()
  while (!app.draining.value) await new Promise(setImmediate)
  late.end(body.slice(10))
  const [response] = await answered
  t.equal(response.statusCode, 503)
  response.resume()
  await closed
  t.equal(gateway.requests.length, 0)
})
