import { existsSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { openRun, readRun, userSays } from '../harness/reader.ts'
import { kinds, parseEvents, textOf, type Sent } from '../harness/sse.ts'
import { turns, withAnalysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'
import type { Plan } from '../fakes/gateway.ts'

const look: Plan = { reasoning: 'Let me see. ', text: 'I look. ', toolCalls: [{ toolName: 'systemInfo', input: {} }] }
const calls = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
const writing = calls('writeFile', { path: 'a.txt', content: 'x' })
const chat = { ...userSays('go'), id: 'chat', resumable: true }
const eventsOf = (text: string) => parseEvents(text.replace(/data: \[DONE\]\n\n$/, ''))
/** The events without what differs from run to run. */
const comparable = (events: Sent[]) =>
  events.filter(({ type }) => type !== 'tool-output-available').map((event) =>
    JSON.stringify(event).replace(/[0-9a-f-]{36}/g, 'id').replace(/gw_\d+/g, 'call')
  )

for (const protocol of ['documented', 'ui']) {
  t.test(`the first step begins beside the analysis, and the ${protocol} stream is the one of a step after it`, async (t) => {
    const reply = (_request: unknown, nth: number) => nth === 0 ? look : { text: 'Done.' }
    let expected: Sent[] = []
    await t.test('after it', async (t) => {
      const { app, analysed } = await withAnalysis(t, reply, { config: { agent: { speculate: false } } })
      analysed('standard')
      const run = await openRun(app, chat, `/run?protocol=${protocol}`)
      await run.ended
      expected = eventsOf(run.text)
    })

    const { app, analysed, answered, steps } = await withAnalysis(t, reply)
    const run = await openRun(app, chat, `/run?protocol=${protocol}`)
    await answered()
    const early = await readRun(app, `/run/chat/stream?protocol=${protocol}`)
    await early.says('reasoning-start')
    t.same(kinds(eventsOf(run.text)), ['start', 'reasoning-start'], 'nothing of the step before the analysis')
    t.equal(steps().length, 1)
    analysed('standard')
    await run.says('tool-output-available')
    const late = await readRun(app, `/run/chat/stream?protocol=${protocol}`)
    await Promise.all([run.ended, early.ended, late.ended])
    t.same(kinds(expected).slice(0, 8), [
      ...['start', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'start-step'],
      ...['reasoning-start', 'reasoning-delta', 'reasoning-end']
    ])
    for (const { text } of [run, early, late]) t.same(comparable(eventsOf(text)), comparable(expected))
  })
}

const WAITING: Record<string, { config?: object, options?: object }> = {
  'config.agent.speculate is false': { config: { agent: { speculate: false } } },
  'the run has a budget': { options: { budget: { tokens: 1_000_000 } } },
  'the day has a budget': { config: { budget: { day: { tokens: 1_000_000 } } } }
}
for (const [why, { config, options }] of Object.entries(WAITING)) {
  t.test(`the first step waits until the request is understood when ${why}`, async (t) => {
    const { app, gateway, analysed, steps } = await withAnalysis(t, () => ({ text: 'hi' }), { config })
    const running = say(app, 'go', options && { options })
    while (gateway.requests.length === 0) await new Promise(setImmediate)
    await turns()
    t.equal(steps().length, 0)
    analysed('simple')
    t.equal(textOf((await running).events), 'hi')
  })
}

t.test('a run without analysis begins with its first step', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'hi' }))
  t.equal((await say(app, 'go')).events[1].type, 'start-step')
  t.equal(gateway.requests.length, 1)
})

for (const models of [{ model: 'offline/scripted', fast: 'test/fast' }, { model: 'test/model', fast: 'offline/assistant' }]) {
  t.test(`with ${models.model} and ${models.fast} the step waits`, async (t) => {
    const { app, gateway, analysed } = await withAnalysis(t, () => ({ text: 'hi' }), {
      config: { model: models.model, models: { fast: models.fast }, offline: { script: [{ text: 'hi' }] } }
    })
    let prompts = 0
    const { ready } = app.tools
    app.tools.ready = (signal) => {
      prompts++
      return ready(signal)
    }
    const run = await openRun(app, userSays('every day at 9 list the files here'))
    if (models.fast === 'test/fast') {
      while (gateway.requests.length === 0) await new Promise(setImmediate)
      await turns()
      t.equal(prompts, 0)
    }
    analysed('standard')
    await run.ended
    t.equal(prompts, models.fast === 'test/fast' ? 1 : 0, 'a request that the offline model hands over begins no step')
  })
}

t.test('tools run only when the request is understood', async (t) => {
  const { app, analysed, answered } = await withAnalysis(t, (_request, nth) => nth === 0 ? writing : { text: 'Done.' }, {
    config: { permissions: { writeFile: 'allow' } }
  })
  const run = await openRun(app, { ...chat, context: { cwd: app.cwd } })
  await answered()
  t.notOk(existsSync(`${app.cwd}/a.txt`))
  analysed('simple')
  await run.ended
  t.ok(existsSync(`${app.cwd}/a.txt`))
})

t.test('a person is asked only when the request is understood, and the answer continues without another analysis', async (t) => {
  const { app, gateway, analysed, answered } = await withAnalysis(t, (_request, nth) => nth === 0 ? writing : { text: 'Done.' })
  const open = async () => (await app.inject('/approvals')).json().approvals.length
  const run = await openRun(app, { ...chat, context: { cwd: app.cwd } })
  await answered()
  t.equal(await open(), 0)
  analysed('standard')
  await run.ended
  t.equal(await open(), 1)
  t.equal(textOf((await answer(app, { [asked(run.events)[0]]: true })).events), 'Done.')
  t.equal(gateway.requests.filter(({ structured }) => structured === 'analysis').length, 1)
})

t.test('an answer as one object holds the analysis and all of the first step', async (t) => {
  const { app, analysed, answered } = await withAnalysis(t, (_request, nth) => nth === 0 ? look : { text: 'Done.' })
  const running = app.inject({ method: 'POST', url: '/run/sync', payload: userSays('go') })
  await answered()
  analysed('simple')
  t.match((await running).json(), {
    text: 'Done.',
    steps: 2,
    analysis: { complexity: 'simple' },
    toolCalls: [{ toolName: 'systemInfo', status: 'completed' }],
    usage: { inputTokens: 30 }
  })
})

t.test('what is said meanwhile is for the next step, once', async (t) => {
  const { app, analysed, answered, steps } = await withAnalysis(t, (_request, nth) => ({ text: `answer ${nth}. ` }))
  const run = await openRun(app, chat)
  await answered()
  await app.inject({ method: 'POST', url: '/run/chat/steer', payload: { message: 'turn left' } })
  analysed('standard')
  await run.ended
  t.equal(textOf(run.events), 'answer 0. answer 1. ')
  const said = steps().map(({ body }) => JSON.stringify(body.prompt).split('turn left').length - 1)
  t.same(said, [0, 1])
  t.match(steps()[1].body.prompt.at(-1), { role: 'user', content: [{ text: 'turn left' }] })
})

t.test('a step that waits for the analysis is not stored: after a restart there is only the request', async (t) => {
  const { app, gateway, answered } = await withAnalysis(t, () => ({ ...writing, text: 'I write it. ' }))
  const run = await openRun(app, chat)
  await answered()
  const messages = async (service: typeof app) => (await service.inject('/threads/chat')).json().messages
  t.match(await messages(app), [{ role: 'user' }])
  t.equal((await messages(app)).length, 1)
  await app.close()
  await run.ended
  const again = await build(t, { home: app.home, cwd: app.cwd, gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
  t.notMatch(JSON.stringify(await messages(again as typeof app)), 'I write it')
  t.same((await again.inject('/approvals')).json().approvals, [])
  t.equal(of(run.events, 'text-delta').length, 0)
})

t.test('a step that waits is read no further than a mebibyte, and goes on when the analysis is there', async (t) => {
  const long = Array.from({ length: 192 }, () => 'z'.repeat(64 * 1024))
  const { app, analysed, begun } = await withAnalysis(t, () => ({ text: long }))
  const run = await openRun(app, userSays('go'))
  const { ended } = await begun()
  await turns(1000)
  t.equal(await Promise.race([ended, 'under way']), 'under way')
  analysed('standard')
  t.equal(await ended, 'finished')
  await run.ended
  t.equal(textOf(run.events).length, 192 * 64 * 1024)
})
