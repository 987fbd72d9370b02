import t, { type Test } from 'tap'
import { of, say, sayAll } from '../harness/agent.ts'
import { fakeClock, hastyClock } from '../harness/clock.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { compactions, TOO_LONG, turns as exchanges, user, WINDOW } from '../harness/small-window.ts'
import { kinds, textOf, type Sent } from '../harness/sse.ts'
import { turns, withAnalysis } from '../harness/with-analysis.ts'
import type { Plan } from '../fakes/gateway.ts'

const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
const refused: Plan = { error: { status: 401, type: 'authentication_error', message: 'no' } }
const chat = { ...userSays('go'), id: 'chat' }
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
    const run = await openRun(service.app, chat)
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
    const run = await openRun(service.app, chat)
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
  const run = await openRun(service.app, chat)
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
  const run = await openRun(app, chat)
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
  const run = await openRun(app, chat)
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
  const run = await openRun(app, chat)
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
      const run = await openRun(service.app, chat)
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
  const run = await openRun(app, chat)
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
      const run = await openRun(app, chat)
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
  const run = await openRun(app, chat)
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
