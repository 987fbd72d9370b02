import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { of, say } from '../harness/agent.ts'
import { decide, waiting } from '../harness/approval-doors.ts'
import { fakeClock } from '../harness/clock.ts'
import { answerByRun, FORMAT } from '../harness/questions.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** A run whose tool asks in the middle of its call, as a tool server does, and the id of its questions. */
async function asking (t: Test) {
  const clock = fakeClock()
  const steps = [{ toolCalls: [{ toolName: 'book', input: {} }] }, { text: 'Booked.' }]
  const { app } = await withGateway(t, (_request, nth) => steps[nth], { clock })
  await app.mcp.start()
  app.tools.merge([{
    name: 'travel',
    available: true,
    tools: [{
      name: 'book',
      description: 'Books.',
      inputSchema: Type.Object({}),
      effect: 'read',
      permission: 'allow',
      identity: 'travel',
      execute: (_input, { signal, runId, callId, waitForUser }) =>
        waitForUser!(app.liveQuestions.ask({ owner: { threadId: 'chat' }, runId, toolCallId: callId, questions: [FORMAT], signal }))
    }]
  }])
  const run = say(app, 'book it', { id: 'chat', resumable: true })
  while ((await waiting(app)).length === 0) await new Promise(setImmediate)
  const [item] = await waiting(app)
  return { app, clock, run, item, id: item.approvalId }
}

t.test("a tool server's questions are answered by the same route while the run goes on, and its time limit rests", async (t) => {
  const { app, clock, run, item, id } = await asking(t)
  t.match(item, { kind: 'question', live: true, threadId: 'chat', questions: [FORMAT], state: 'pending' })
  for (let minutes = 0; minutes < 9; minutes++) await clock.advance(60_000)
  t.match(await decide(app, id, { answers: { format: 'txt' } }), { status: 400, body: { code: 'ERR_INVALID_ANSWERS' } })
  t.match(await decide(app, id, { answers: { format: 'md' } }), {
    status: 200,
    body: { state: 'answered', threadId: 'chat', continued: true }
  })
  const { events } = await run
  t.match(of(events, 'tool-output-available'), [{ output: { is: 'answered', answers: { format: 'md' } } }])
  t.equal(textOf(events), 'Booked.')
  t.match(await decide(app, id, { answers: { format: 'md' } }), { status: 200 })
  t.match(await decide(app, id, { approved: false }), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } })
})

t.test('POST /run/approve answers them too, and reads the run that is under way', async (t) => {
  const { app, run, id } = await asking(t)
  const { status, text } = await answerByRun(app, id, { approved: false, reason: 'Not now.' })
  t.equal(status, 200)
  t.match(text, /"is":"declined","reason":"Not now."/)
  t.match(text, /Booked/)
  t.equal(textOf((await run).events), 'Booked.')
})

t.test('they end with their run', async (t) => {
  const { app, run, id } = await asking(t)
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
  await run
  t.same(await waiting(app), [])
  t.match(await decide(app, id, { answers: { format: 'md' } }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
})
