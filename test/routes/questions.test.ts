import t, { type Test } from 'tap'
import { Type } from '@sinclair/typebox'
import { asked, of, say } from '../harness/agent.ts'
import { decide, post, waiting } from '../harness/approval-doors.ts'
import { fakeClock } from '../harness/clock.ts'
import { append, effects } from '../harness/effects.ts'
import { answerByRun, asking, FORMAT, questionsIn } from '../harness/questions.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const interactive = { options: { interactive: true } }
/** The output of the newest call that the model was told. */
const told = (gateway: { requests: any[] }) => gateway.requests.at(-1)!.body.prompt.at(-1).content.at(-1).output

t.test('the agent asks, the stream ends with the questions, and the answers are the output of its call', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => [asking(), { text: 'Markdown it is.' }][nth])
  const { events } = await say(app, 'write a report', { id: 'chat', ...interactive })
  const [{ approvalId, toolCallId, expiresAt }] = questionsIn(events)
  t.same(questionsIn(events), [{ type: 'question-request', approvalId, toolCallId, questions: [FORMAT], expiresAt }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'tool-calls' })
  t.match(await waiting(app, '?kind=question'), [
    { approvalId, kind: 'question', threadId: 'chat', toolCallId, questions: [FORMAT], expiresAt, state: 'pending' }
  ])
  t.same(await waiting(app, '?kind=tool'), [])
  t.equal((await app.inject('/threads/chat')).json().status, 'pending_approval')

  const given = await answerByRun(app, approvalId, { answers: { format: 'md' } })
  t.equal(given.status, 200)
  t.match(given.text, /"type":"tool-output-available".*"output":{"answers":{"format":"md"}}/)
  t.match(given.text, /Markdown/)
  t.same(told(gateway), { type: 'json', value: { answers: { format: 'md' } } })
  t.same(await waiting(app), [])
  const { messages } = (await app.inject('/threads/chat')).json()
  t.match(JSON.stringify(messages), /"answers":{"format":"md"}/)
})

t.test('answers by POST /approvals/:id let the run go on by itself; wrong ones name their question and lose nothing', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => [asking(), { text: 'As you wish.' }][nth])
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  for (const [body, error] of [
    [{ answers: { format: 'txt' } }, /"format".*no option "txt"; its options are "md", "pdf"/],
    [{ answers: {} }, /"format".*needs an answer/],
    [{ answers: { format: 'md', other: 'x' } }, /no question "other"/],
    [{ approved: true }, /send "answers"/],
    [{ approved: false, answers: { format: 'md' } }, /either answered.*or declined/],
    [{ answers: { format: 'md' }, scope: 'exact' }, /belong to the approval of a tool call/],
    [{}, /"approved".*"answers"/],
    [{ answers: { format: 3 } }, /answers/]
  ] as const) {
    t.match(await decide(app, approvalId, body), { status: 400, body: { error } }, JSON.stringify(body))
  }
  t.match(await decide(app, approvalId, { answers: { format: 'txt' } }), {
    body: { code: 'ERR_INVALID_ANSWERS', details: [{ path: 'answers.format' }] }
  })
  t.equal(gateway.requests.length, 1, 'the run still waits')
  t.match(await decide(app, approvalId, { answers: { format: 'pdf' } }), {
    status: 200,
    body: { approvalId, state: 'answered', threadId: 'chat', continued: true }
  })
  const more = await answerByRun(app, approvalId, { answers: { format: 'pdf' } })
  t.match(more.text, /"delta":" wish\."/, 'the same answer again reads what follows')
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), {
    status: 409,
    body: { error: /already answered with {"format":"pdf"}/ }
  })
  t.match(await decide(app, approvalId, { approved: false }), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } })
  t.match(await answerByRun(app, approvalId, { answers: { format: 'md' } }), { status: 409 })
  t.equal(gateway.requests.length, 2, 'the model was told once')
})

t.test('declined questions are said to the model, and are no refused call', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => [asking(), asking(), { text: 'Fine.' }][nth])
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  const again = await answerByRun(app, approvalId, { approved: false, reason: 'You choose.' })
  t.match(again.text, /"output":{"declined":true,"reason":"You choose."}/)
  t.match(again.text, /"type":"question-request"/, 'it may ask again')
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt[0]), /denied these calls/)
})

t.test('approvals and questions of one step go on with the last decision, whichever it is', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [{ toolCalls: [append('x'), ...asking().toolCalls!] }, { text: 'Both.' }][nth % 2])
  let ran = ''
  for (const questionFirst of [true, false]) {
    const { events } = await say(app, 'go', interactive)
    const [question] = questionsIn(events).map(({ approvalId }) => approvalId)
    const answer = () => decide(app, question, { answers: { format: 'md' } })
    const approve = () => decide(app, asked(events)[0], { approved: true })
    const [first, second] = questionFirst ? [answer, approve] : [approve, answer]
    t.match(await first(), { status: 200, body: { continued: false } })
    t.equal(effects(app.cwd), ran, 'nothing runs before the last decision')
    t.match(await second(), { status: 200, body: { continued: true } })
    while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    t.equal(effects(app.cwd), ran += 'x')
  }
})

t.test('POST /run/sync names what the agent asks', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => [asking(), { text: 'Done.' }][nth])
  const { body } = await post(app, '/run/sync', { messages: [{ role: 'user', content: 'go' }], ...interactive })
  t.match(body, {
    finishReason: 'tool-calls',
    pendingApprovals: [],
    pendingQuestions: [{ questions: [FORMAT] }],
    toolCalls: [{ toolName: 'askUser', status: 'pending' }]
  })
  const content = [{ type: 'tool-approval-response', approvalId: body.pendingQuestions[0].approvalId, answers: { format: 'md' } }]
  t.match(await post(app, '/run/sync', { messages: [{ role: 'tool', content }] }), {
    body: { text: 'Done.', pendingQuestions: [], toolCalls: [{ output: { answers: { format: 'md' } }, status: 'completed' }] }
  })
})

t.test('without interactive: true a chat has no questions to ask; with false nothing waits for a person', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [asking(), { text: 'I decided myself.' }, { toolCalls: [append('x'), ...asking().toolCalls!] }, { text: 'Left out.' }][nth])
  const tools = () => gateway.requests.at(-1)!.body.tools.map(({ name }: { name: string }) => name)
  const plain = await say(app, 'go')
  t.notOk(tools().includes('askUser'))
  t.same(questionsIn(plain.events), [], 'a model that asks all the same is told that it cannot')
  t.match(of(plain.events, 'tool-output-denied'), [{ toolName: 'askUser', reason: /cannot be asked/ }])
  t.match(textOf(plain.events), /I decided/)

  const silent = await say(app, 'go', { options: { interactive: false } })
  t.notOk(tools().includes('askUser'))
  t.match(of(silent.events, 'tool-output-denied'), [{ toolName: 'runCommand', reason: /Nobody/ }, { reason: /cannot be asked/ }])
  t.match(textOf(silent.events), /Left out/)
  t.equal(effects(app.cwd), '')
  t.same(await waiting(app), [])
})

t.test('silence is no answer: late ones are refused, and the call ends with a sentence when the run goes on', async (t) => {
  const clock = fakeClock()
  const steps = [{ toolCalls: [append('x'), ...asking().toolCalls!] }, { text: 'Well.' }]
  const { app, gateway } = await withGateway(t, (_request, nth) => steps[nth], { clock })
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  const approve = () => decide(app, asked(events)[0], { approved: true })
  t.match(await approve(), { body: { continued: false } })
  await clock.advance(86_400_000)
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 410, body: { code: 'ERR_APPROVAL_EXPIRED' } })
  t.same(await waiting(app), [])
  t.match(await approve(), { body: { continued: true } })
  while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(told(gateway), { type: 'error-text', value: /^Nobody answered in time/ })
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 410 })
})

t.test('a new message instead of answers withdraws the questions, and the model is told', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => [asking(), { text: 'Something else, then.' }][nth])
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  await say(app, 'never mind', { id: 'chat', ...interactive })
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /The user did not answer .*Which format should it have/)
})

t.test('questions go with their conversation', async (t) => {
  const { app } = await withGateway(t, () => asking())
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  await app.inject({ method: 'DELETE', url: '/threads/chat' })
  t.same(await waiting(app), [])
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 404, body: { code: 'ERR_APPROVAL_NOT_FOUND' } })
})

t.test('the run shows what it asks, and whoever waits for it hears of the question', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => [asking(), { text: 'Done.' }][nth])
  const { events } = await say(app, 'go', { id: 'chat', ...interactive })
  const [{ approvalId }] = questionsIn(events)
  const [{ runId }] = (await app.inject('/runs?threadId=chat')).json().runs
  t.match((await app.inject(`/runs/${runId}?waitMs=60000`)).json(), {
    status: 'pending_approval',
    questions: [{ approvalId, kind: 'question', questions: [FORMAT] }]
  })
  await decide(app, approvalId, { answers: { format: 'md' } })
  t.match((await app.inject(`/runs/${runId}?waitMs=60000`)).json(), {
    status: 'completed',
    questions: [],
    toolCalls: [{ toolName: 'askUser', output: { answers: { format: 'md' } } }]
  })
})

/** A run whose tool asks in the middle of its call, as a tool server does, and the id of its questions. */
async function askingNow (t: Test) {
  const clock = fakeClock()
  const steps = [{ toolCalls: [{ toolName: 'book', input: {} }] }, { text: 'Booked.' }]
  const { app } = await withGateway(t, (_request, nth) => steps[nth], { clock })
  await app.mcp.start()
  app.tools.merge([{
    name: 'travel',
    available: true,
    tools: [{
      model: { name: 'book', description: 'Books.', schema: Type.Object({}) },
      policy: { effect: 'read', permission: 'allow' },
      identity: 'travel',
      execute: (_input, { signal, runId, callId, waitForUser }) =>
        waitForUser!(app.liveQuestions.ask({ owner: { threadId: 'chat' }, runId, toolCallId: callId, questions: [FORMAT], signal }))
    }]
  }])
  const run = say(app, 'book it', { id: 'chat', resumable: true })
  while ((await waiting(app)).length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  const [item] = await waiting(app)
  return { app, clock, run, item, id: item.approvalId }
}

t.test("a tool server's questions are answered by the same route while the run goes on, and its time limit rests", async (t) => {
  const { app, clock, run, item, id } = await askingNow(t)
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
  const { app, run, id } = await askingNow(t)
  const { status, text } = await answerByRun(app, id, { approved: false, reason: 'Not now.' })
  t.equal(status, 200)
  t.match(text, /"is":"declined","reason":"Not now."/)
  t.match(text, /Booked/)
  t.equal(textOf((await run).events), 'Booked.')
})

t.test('they end for their call while the store takes nothing, and for people as soon as it does', async (t) => {
  const { app, clock, run, id } = await askingNow(t)
  const { transact } = app.store
  app.store.transact = async (ops) => {
    if (ops.some(({ key }) => key.includes(id))) throw new Error('no space left on device')
    return transact(ops)
  }
  await clock.advance(10 * 60_000)
  const { events } = await run
  t.match(of(events, 'tool-output-available'), [{ output: { is: 'unanswered' } }])
  t.equal(textOf(events), 'Booked.')
  app.store.transact = transact
  t.same(await waiting(app), [])
  t.match(await decide(app, id, { answers: { format: 'md' } }), { status: 410, body: { code: 'ERR_APPROVAL_EXPIRED' } })
})

t.test('they end with their run', async (t) => {
  const { app, run, id } = await askingNow(t)
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
  await run
  t.same(await waiting(app), [])
  t.match(await decide(app, id, { answers: { format: 'md' } }), { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN' } })
})
