import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { fakeClock, hastyClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { openRun, readRun, userSays } from '../harness/reader.ts'
import { compactions, TOO_LONG, turns as exchanges, user, WINDOW } from '../harness/small-window.ts'
import { kinds, parseEvents, type Sent, textOf } from '../harness/sse.ts'
import { turns, withAnalysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'

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

const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
const refused: Plan = { error: { status: 401, type: 'authentication_error', message: 'no' } }
const unresumedChat = { ...userSays('go'), id: 'chat' }
const types = (events: Sent[]) => events.map(({ type }) => type)
const UNDERSTOOD = ['start', 'reasoning-start', 'reasoning-delta', 'reasoning-end']
type Service = Awaited<ReturnType<typeof withAnalysis>>
type Run = Awaited<ReturnType<typeof openRun>>

const ENDS: Record<string, (service: Service, run: Run) => unknown> = {
  'hangs up': (_service, run) => run.hangUp(),
  'stops the run': ({ app }) => app.inject({ method: 'POST', url: '/run/chat/stop' }),
  'deletes the conversation': ({ app }) => app.inject({ method: 'DELETE', url: '/threads/chat' }),
  'ends the service': ({ app }) => app.close()
}

for (const [what, end] of Object.entries(ENDS)) {
  t.test(`a user who ${what} before the request is understood ends both calls`, async (t) => {
    const service = await withAnalysis(t, () => stalled)
    const run = await openRun(service.app, unresumedChat)
    await service.begun()
    await turns()
    await end(service, run)
    t.same(await Promise.all(service.gateway.requests.map(({ ended }) => ended)), ['aborted', 'aborted'])
    await run.ended
    t.equal(of(run.events, 'text-delta').length, 0)
    while (service.app.agent.activeRunCount > 0) await new Promise(setImmediate)
  })

  t.test(`a user who ${what} after it ends the step`, async (t) => {
    const service = await withAnalysis(t, () => stalled)
    const run = await openRun(service.app, unresumedChat)
    const call = await service.begun()
    service.analysed('simple')
    await run.says('first ')
    await end(service, run)
    t.equal(await call.ended, 'aborted')
    await run.ended
    while (service.app.agent.activeRunCount > 0) await new Promise(setImmediate)
  })
}

t.test('a stop while a mebibyte waits ends both calls', async (t) => {
  const service = await withAnalysis(t, () => ({ text: Array.from({ length: 192 }, () => 'z'.repeat(64 * 1024)) }))
  const run = await openRun(service.app, unresumedChat)
  await service.begun()
  await turns()
  await service.app.inject({ method: 'POST', url: '/run/chat/stop' })
  t.same(await Promise.all(service.gateway.requests.map(({ ended }) => ended)), ['aborted', 'aborted'])
  await run.ended
  t.match(types(run.events).slice(-4), ['reasoning-end', 'abort', 'data-stopped', 'finish'])
  t.match((await service.app.inject('/threads/chat')).json().messages.length, 1)
})

t.test('a step that fails before the request is understood is told after the analysis', async (t) => {
  const { app, analysed, answered } = await withAnalysis(t, () => refused)
  const run = await openRun(app, unresumedChat)
  await answered()
  t.same(types(run.events), ['start', 'reasoning-start'])
  analysed('standard')
  await run.ended
  t.same(types(run.events), [...UNDERSTOOD, 'start-step', 'error', 'finish'])
})

t.test('a step that breaks off in the middle before the request is understood is told after the analysis, with what it said', async (t) => {
  const { app, analysed, answered } = await withAnalysis(
    t,
    (_request, nth) => nth === 0 ? { text: ['half ', 'of it'], ending: 'cut', after: 4 } : refused,
    { clock: hastyClock() }
  )
  const run = await openRun(app, unresumedChat)
  await answered()
  t.same(types(run.events), ['start', 'reasoning-start'])
  analysed('standard')
  await run.ended
  const begun = ['start-step', 'text-start', 'text-delta', 'text-end', 'data-retry', 'finish-step', 'start-step']
  t.same(types(run.events).filter((type) => type !== 'step-boundary'), [...UNDERSTOOD, ...begun, 'error', 'finish'])
})

t.test('a step that fails after the request was understood is told as ever', async (t) => {
  const failing = Promise.withResolvers<Plan>()
  const { app, analysed, begun } = await withAnalysis(t, () => failing.promise)
  const run = await openRun(app, unresumedChat)
  await begun()
  analysed('standard')
  await run.says('start-step')
  failing.resolve(refused)
  await run.ended
  t.same(types(run.events), [...UNDERSTOOD, 'start-step', 'error', 'finish'])
})

t.test('an analysis that fails, or takes longer than two seconds, leaves the step as it is', async (t) => {
  const clock = fakeClock()
  const endings = { fails: ({ failed }: Service) => failed(), 'takes too long': () => clock.advance(2_000) }
  for (const [name, end] of Object.entries(endings)) {
    await t.test(name, async (t) => {
      const service = await withAnalysis(t, () => ({ text: 'Here it is.' }), { clock })
      const run = await openRun(service.app, unresumedChat)
      await service.answered()
      t.same(types(run.events), ['start', 'reasoning-start'])
      await end(service)
      await run.ended
      t.same(of(run.events, 'reasoning-delta'), [])
      t.equal(textOf(run.events), 'Here it is.')
      t.equal(service.steps().length, 1)
    })
  }
})

t.test('a call that is made again, then by the fallback model, is one step', async (t) => {
  const clock = fakeClock()
  const { app, gateway, analysed, answered, steps } = await withAnalysis(t, ({ modelId }, nth) =>
    modelId === 'test/other'
      ? { text: 'from the other one' }
      : { error: nth === 0 ? { status: 500, message: 'boom' } : { status: 404, type: 'model_not_found', message: 'no such model' } }, {
    clock,
    config: { models: { fast: 'test/fast', fallback: 'test/other' } }
  })
  const run = await openRun(app, unresumedChat)
  await answered()
  await clock.sleeper(1_000)
  await clock.advance(1_000)
  while (steps().length < 3) await new Promise(setImmediate)
  await steps()[2].ended
  await turns()
  t.same(types(run.events), ['start', 'reasoning-start'])
  analysed('standard')
  await run.ended
  t.same(gateway.requests.map(({ modelId }) => modelId).sort(), ['test/fast', 'test/model', 'test/model', 'test/other'])
  t.same(kinds(run.events), [...UNDERSTOOD, 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'])
})

const long = [...exchanges(8, WINDOW / 10), user('and now?')]
const refusedOnce = (t: Test) =>
  withAnalysis(t, (_request, nth) => nth === 0 ? TOO_LONG : { text: 'done' }, { config: { contextWindows: { test: 10 * WINDOW } } })

t.test('a conversation that is compacted, as the model refused it, is told after the analysis', async (t) => {
  const { app, analysed, steps } = await refusedOnce(t)
  const running = sayAll(app, long, { id: 'chat' })
  while (steps().length < 2) await new Promise(setImmediate)
  await steps()[1].ended
  await turns()
  analysed('standard')
  const { events } = await running
  t.equal(compactions(events).length, 1)
  t.same(kinds(events).slice(0, 6), [...UNDERSTOOD, 'start-step', 'data-compaction'])
  t.equal(textOf(events), 'done')
})

t.test('a long-running request becomes a task, and nothing of its first step is told or done', async (t) => {
  const firsts: Record<string, Plan> = {
    'a complete answer': { text: 'I did it.' },
    'an answer under way': stalled,
    'a large answer': { text: Array.from({ length: 192 }, () => 'z'.repeat(64 * 1024)) },
    'a failure': refused,
    'a call of a tool': { text: 'I look.', toolCalls: [{ toolName: 'runCommand', input: { command: 'true' } }] }
  }
  for (const [name, first] of Object.entries(firsts)) {
    await t.test(name, async (t) => {
      const { app, analysed, begun } = await withAnalysis(t, (_request, nth) => nth === 0 ? first : { text: 'worked' })
      const run = await openRun(app, unresumedChat)
      const call = await begun()
      await turns()
      analysed('long_running', { interval: 'daily' })
      await run.ended
      const shown = ['start-step', 'data-task', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish']
      t.same(kinds(run.events), [...UNDERSTOOD, ...shown])
      t.match(textOf(run.events), /^I made a background task/)
      t.equal(await call.ended, ['an answer under way', 'a large answer'].includes(name) ? 'aborted' : 'finished')
      t.same((await app.inject('/approvals')).json().approvals, [])
      t.notMatch(JSON.stringify((await app.inject('/threads/chat')).json().messages), /I look|I did it|zzz|first/)
    })
  }
})

t.test('the tokens of a first step that was dropped count for the run', async (t) => {
  const usage = { inputTokens: 70, outputTokens: 7 }
  const { app, analysed, answered } = await withAnalysis(t, () => ({ text: 'I did it.', usage }))
  const running = app.inject({ method: 'POST', url: '/run/sync', payload: userSays('go') })
  await answered()
  analysed('long_running', { interval: 'daily' })
  const { task, usage: ofRun } = (await running).json()
  t.equal(task.status, 'scheduled')
  const ofAnalysis = { inputTokens: 10, outputTokens: 1 }
  t.match(ofRun, { inputTokens: 70 + ofAnalysis.inputTokens, outputTokens: 7 + ofAnalysis.outputTokens })
})

t.test('a first step that was dropped before its model said anything is counted by an estimate', async (t) => {
  const { app, analysed, begun } = await withAnalysis(t, () => new Promise<never>(() => {}))
  const running = app.inject({ method: 'POST', url: '/run/sync', payload: userSays('go') })
  await begun()
  analysed('long_running', { interval: 'daily' })
  await running
  const capable = async () =>
    (await app.inject('/usage?by=role')).json().groups.find(({ key }: { key: string }) => key === 'capable') ?? { calls: 0 }
  // The other call is the plan of the task.
  while ((await capable()).calls < 2) await new Promise(setImmediate)
  t.ok((await capable()).inputTokens > 100, `${(await capable()).inputTokens} tokens: the prompt, too`)
})

t.test('what is said to a run that became a task meanwhile is heard once, by a step of its own', async (t) => {
  const { app, analysed, answered, steps } = await withAnalysis(t, (_request, nth) => ({ text: `answer ${nth}` }))
  const run = await openRun(app, unresumedChat)
  await answered()
  await app.inject({ method: 'POST', url: '/run/chat/steer', payload: { message: 'turn left' } })
  analysed('long_running', { interval: 'daily' })
  await run.ended
  t.match(textOf(run.events), /^I made a background task[^]*answer 1$/)
  t.same(steps().map(({ body }) => JSON.stringify(body.prompt).split('turn left').length - 1), [0, 1])
})

t.test('a task that cannot be made ends the run with that error, and not with one of the first step', async (t) => {
  const { app, analysed, answered } = await withAnalysis(t, () => refused)
  app.tasks.launch = async () => {
    throw Object.assign(new Error('no room'), { code: 'ERR_X' })
  }
  const running = say(app, 'go')
  await answered()
  analysed('long_running', { interval: 'daily' })
  t.match(of((await running).events, 'error'), [{ code: 'ERR_INTERNAL' }])
})
