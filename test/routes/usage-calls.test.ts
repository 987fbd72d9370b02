import t from 'tap'
import type { App } from '../../app.ts'
import { createDescribeImage } from '../../services/models/describe-image.ts'
import { createIdleThreads } from '../../services/brain/extraction/idle-threads.ts'
import { sayAll, of } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { small, turns, user } from '../harness/small-window.ts'
import { withGateway } from '../harness/with-gateway.ts'

const used = { inputTokens: 60, outputTokens: 20 }
const answers = { text: 'Done.', usage: used }
const signal = new AbortController().signal
const groups = async (app: App, by: string) => (await app.inject(`/usage?by=${by}`)).json().groups

t.test('a summary of the conversation is part of the run', async (t) => {
  const { app, summaries } = await small(t, {
    reply: () => answers,
    summary: () => ({ object: { summary: 'They talked of fado.' }, usage: { inputTokens: 7, outputTokens: 1 } })
  })
  const { events } = await sayAll(app, [...turns(24, 1_000), user('and now?')])
  t.equal(summaries().length, 1)
  t.match(of(events, 'finish'), [{ usage: { inputTokens: 67, outputTokens: 21 } }])
})

t.test('a description of a picture is part of the run that looked at it', async (t) => {
  const { app } = await withGateway(t, () => answers, {
    config: { models: { vision: 'test/eye' } },
    structured: () => ({ text: 'A window.', usage: used })
  })
  const describe = createDescribeImage({ registryOf: () => app.providers, clock: app.clock, usage: app.usage })
  const total = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  app.usage.open('run', { owner: { kind: 'task', id: 'a-task' }, total, budget: { tokens: 80 } })
  t.match(await describe('', undefined, { runId: 'run', signal }), { description: /./ })
  t.match(total, { inputTokens: 61, outputTokens: 20 })
  t.match(await groups(app, 'task'), [{ key: 'a-task', calls: 1 }])
  t.match(await groups(app, 'role'), [{ key: 'vision', calls: 1 }])
  t.match(await describe('', undefined, { runId: 'run', signal }), { note: /The run used 81 tokens; its budget is 80\./ })
})

t.test('a test of a model is counted, and says when the budget of the day forbids it', async (t) => {
  const { app } = await withGateway(t, () => answers, { config: { budget: { day: { tokens: 80 } } } })
  const probe = async () => (await app.inject({ method: 'POST', url: '/providers/test' })).json()
  t.match(await probe(), { ok: true })
  t.match(await groups(app, 'model'), [{ key: 'test/model', calls: 1, ...used }])
  t.same(await groups(app, 'thread'), [])
  t.match(await probe(), { ok: false, error: /the budget of a day is 80/ })
})

t.test('threads that rest on a day without budget are looked through when there is one again', async (t) => {
  const clock = fakeClock(new Date(2026, 0, 5, 23).getTime())
  const warnings: string[] = []
  const { app, gateway } = await withGateway(t, () => answers, {
    clock,
    config: { budget: { day: { tokens: 80 } } },
    structured: () => ({ object: { pointers: [], habits: [] }, usage: used })
  })
  await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [user('I live in Rome.')], id: 'chat' } })
  const idle = createIdleThreads({
    threads: app.threadRepository,
    extractor: app.extraction,
    clock,
    log: { warn: (_details, message) => warnings.push(message) },
    isLive: app.agent.isLive,
    after: () => 1_000
  })
  for (let attempt = 0; attempt < 5; attempt++) {
    await clock.advance(10 * 60 * 1000)
    await idle.round(signal)
  }
  t.same([gateway.requests.length, warnings], [1, []], 'it waits, however often it is its turn')
  await clock.advance(60 * 60 * 1000)
  await idle.round(signal)
  t.equal(gateway.requests.length, 2)
  t.match((await app.inject('/usage?from=2026-01-01&to=2026-01-31')).json().groups, [
    { key: '2026-01-05', calls: 1 },
    { key: '2026-01-06', calls: 1 }
  ])
})
