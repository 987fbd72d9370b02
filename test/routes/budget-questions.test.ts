import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { answer, of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const used = { inputTokens: 60, outputTokens: 20 }
const prices = { test: { input: 100, output: 200 } }
/** Calls that differ, so that the run does not count as one that repeats itself; each step uses 80 tokens and costs a cent. */
const looks = (n: number): Plan => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit: n + 1 } }], usage: used })
const answers: Plan = { text: 'Done.', usage: used }
const stepsThenAnswer = (steps: number) => (_request: unknown, nth: number) => nth < steps ? looks(nth) : answers
const withBudget = (budget: object) => ({ options: { budget } })

const open = async (app: App) => (await app.inject('/approvals')).json().approvals
const decide = (app: App, id: string, payload: object) => app.inject({ method: 'POST', url: `/approvals/${id}`, payload })

t.test('a run asks before it spends more than its budget, goes on by as much after a yes, and asks again', async (t) => {
  const { app, gateway } = await withGateway(t, stepsThenAnswer(3), { config: { prices } })
  const { events } = await say(app, 'go', { id: 'chat', ...withBudget({ usd: 0.02 }) })
  const [question] = of(events, 'question-request')
  t.match(question, {
    questions: [{ text: 'This run has spent $0.02 of $0.02. Go on with $0.02 more?', options: [{ value: 'more' }, { value: 'stop' }] }],
    budget: { of: 'run', unit: 'usd', spent: 0.02, limit: 0.02, more: 0.02 }
  })
  t.match(events.at(-1), { type: 'finish', finishReason: 'tool-calls' })
  t.equal(gateway.requests.length, 2)
  t.match(await open(app), [{ approvalId: question.approvalId, kind: 'question', threadId: 'chat', budget: { spent: 0.02 } }])
  t.match((await app.inject('/threads/chat')).json(), { status: 'pending_approval' })

  const continued = await answer(app, { [question.approvalId]: true })
  t.match(of(continued.events, 'text-delta'), [{ delta: 'Done.' }])
  t.equal(gateway.requests.length, 4, 'two cents more are two more calls')
  t.same(await open(app), [])
})

t.test('a no ends the run as its budget does where nobody is asked, once and for all', async (t) => {
  const { app, gateway } = await withGateway(t, stepsThenAnswer(3))
  for (const no of [{ approved: false }, { answers: { budget: 'stop' } }]) {
    const before = gateway.requests.length
    const { events } = await say(app, 'go', { id: JSON.stringify(no), ...withBudget({ tokens: 80 }) })
    const [{ approvalId }] = of(events, 'question-request')
    t.match((await decide(app, approvalId, no)).json(), { state: 'declined', continued: true })
    const again = await answer(app, { [approvalId]: false })
    t.match(of(again.events, 'error'), [{ code: 'ERR_BUDGET', errorText: 'The run used 80 tokens; its budget is 80.' }])
    t.equal(gateway.requests.length, before + 1)
    t.match((await decide(app, approvalId, { approved: true })).json(), { code: 'ERR_APPROVAL_DECIDED' }, 'the first word counts')
  }
})

t.test('the budget of the day is asked about before a first step, by each run, and a yes holds until midnight', async (t) => {
  const clock = fakeClock(new Date(2026, 0, 5, 23, 30).getTime())
  const settings = { clock, config: { prices, budget: { day: { usd: 0.01 } } } }
  const { app, gateway } = await withGateway(t, () => answers, settings)
  await say(app, 'go')
  const both = await Promise.all(['a', 'b'].map(async (id) => of((await say(app, 'go', { id })).events, 'question-request')[0]))
  t.match(both, Array(2).fill({
    questions: [{ text: 'Today all runs together have spent $0.01 of $0.01. Go on with $0.01 more, until midnight?' }],
    budget: { of: 'day', day: '2026-01-05' }
  }))
  t.equal(gateway.requests.length, 1, 'nothing was called')
  t.match(of((await answer(app, { [both[0].approvalId]: true })).events, 'text-delta'), [{ delta: 'Done.' }])
  const late = await answer(app, { [both[1].approvalId]: true })
  t.match(of(late.events, 'question-request'), [{ budget: { spent: 0.02, limit: 0.02 } }], 'the same amount is allowed once')
  t.equal(gateway.requests.length, 2)
  await app.close()

  const { app: next } = await withGateway(t, () => answers, { clock, home: app.home, cwd: app.cwd })
  const again = await answer(next, { [of(late.events, 'question-request')[0].approvalId]: true })
  t.match(of(again.events, 'text-delta'), [{ delta: 'Done.' }], 'the question and what was allowed are read back')
  t.match(of((await say(next, 'go')).events, 'question-request'), [{ budget: { spent: 0.03, limit: 0.03, more: 0.01 } }])
  await clock.advance(31 * 60 * 1000)
  t.match(of((await say(next, 'go')).events, 'text-delta'), [{ delta: 'Done.' }], 'a new day')
  t.match(of((await say(next, 'go')).events, 'question-request'), [{ budget: { spent: 0.01, limit: 0.01, day: '2026-01-06' } }])
})

t.test('a budget that is met within a step is asked about, and the step is made again', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? { text: 'Half an', ending: 'cut', usage: used } : answers)
  const { events } = await say(app, 'go', { id: 'chat', ...withBudget({ tokens: 1 }) })
  const [{ approvalId, budget }] = of(events, 'question-request')
  t.match(budget, { of: 'run', limit: 1 })
  const continued = await answer(app, { [approvalId]: true })
  t.match(of(continued.events, 'text-delta'), [{ delta: 'Done.' }])
  t.equal(gateway.requests.length, 2)
  t.match(gateway.requests[1].body.prompt.map(({ role }: any) => role), ['system', 'user'], 'nothing of the first try is told')
  t.match((await app.inject('/threads/chat')).json().messages.at(-1), { role: 'assistant' })
  t.notMatch((await app.inject('/threads/chat')).body, /Half an/)
})

t.test('a chat client gets the question as what else waits, and a message in place of an answer is a new request', async (t) => {
  const { app, gateway } = await withGateway(t, stepsThenAnswer(1))
  const message = (text: string) => ({ id: text, role: 'user', parts: [{ type: 'text', text }] })
  const { events } = await say(app, '', { id: 'chat', messages: [message('go')], ...withBudget({ tokens: 80 }) })
  const [{ data }] = of(events, 'data-approval')
  t.match(data, { kind: 'question', questions: [{ id: 'budget' }], budget: { spent: 80 } })
  const shown = async () => JSON.stringify((await app.inject('/threads/chat?protocol=ui')).json().messages)
  t.match(await shown(), data.approvalId)
  const next = await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: message('something else') } })
  t.match(next.body, /"delta":"Done\."/)
  t.match((await decide(app, data.approvalId, { approved: true })).json(), { code: 'ERR_APPROVAL_WITHDRAWN' })
  t.match(await shown(), /"state":"withdrawn"/)
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /did not answer/, 'the model is not told of money')
})

t.test('a task asks, waits, and goes on or fails by the answer; those of the modes never and granted end', async (t) => {
  const { app, gateway } = await withGateway(t, stepsThenAnswer(1))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const task = await tasks.create('greet', { approval: { mode: 'changes' }, plan, options: { budget: { tokens: 80 } } })
  await tasks.post(`/${task.id}/start`)
  const { approvalId } = await events.until('task:approval', { kind: 'question' })
  t.match(await tasks.get(`/${task.id}`), { status: 'pending_approval', waitingFor: [{ kind: 'question', id: approvalId }] })
  t.equal(gateway.requests.length, 1)
  t.match((await decide(app, approvalId, { approved: true })).json(), { state: 'answered', continued: true })
  // The report is complete, and its judgement needs a further call.
  const unjudged = await events.until('task:approval', { kind: 'question' })
  t.match(unjudged.budget, { spent: 160, limit: 160, more: 80 })
  await decide(app, unjudged.approvalId, { answers: { budget: 'more' } })
  await events.until('task:complete')
  t.match(await tasks.runs(task.id), [{ status: 'completed', output: 'Done.' }])

  await tasks.post(`/${task.id}/run`)
  const again = await events.until('task:approval', { kind: 'question' })
  t.match(again.budget, { spent: 80, limit: 80 }, 'each run has its own budget')
  await decide(app, again.approvalId, { approved: false })
  t.match(await events.until('task:error'), { status: 'failed', error: 'The run used 80 tokens; its budget is 80.' })
  t.match(await tasks.runs(task.id), [{ status: 'failed', failure: { reason: 'budget', code: 'ERR_BUDGET' } }, {}])

  for (const mode of ['never', 'granted']) {
    const alone = await tasks.create('greet', { approval: { mode }, plan, options: { budget: { tokens: 1 } } })
    await tasks.post(`/${alone.id}/start`)
    t.match(await events.until('task:error', { taskId: alone.id }), { status: 'failed', error: /its budget is 1\./ }, mode)
  }
})
