import { existsSync } from 'node:fs'
import t from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { kinds, type Sent, textOf } from '../harness/sse.ts'
import { turns, withAnalysis } from '../harness/with-analysis.ts'

const look: Plan = { text: 'I look. ', toolCalls: [{ toolName: 'systemInfo', input: {} }] }
const writing: Plan = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
const chat = { ...userSays('go'), id: 'chat' }
const types = (events: Sent[]) => events.map(({ type }) => type)
const ANALYSIS = ['reasoning-start', 'reasoning-delta', 'reasoning-end']
const ANSWER = ['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step']

t.test('an answer is shown while its request is still being analysed, and what the analysis says follows it', async (t) => {
  const { app, analysed } = await withAnalysis(t, () => ({ text: 'Here it is.' }))
  const run = await openRun(app, chat)
  await run.says('text-end')
  analysed('standard')
  await run.ended
  t.same(kinds(run.events), ['start', ...ANSWER, ...ANALYSIS, 'finish'])
})

t.test('an analysis that comes before the answer is told first', async (t) => {
  const reply = Promise.withResolvers<Plan>()
  const { app, analysed, begun } = await withAnalysis(t, () => reply.promise)
  const run = await openRun(app, chat)
  await begun()
  analysed('simple')
  await run.says('reasoning-end')
  reply.resolve({ text: 'Here it is.' })
  await run.ended
  t.same(kinds(run.events), ['start', ...ANALYSIS, ...ANSWER, 'finish'])
})

t.test('tools run before the request is analysed', async (t) => {
  const allowed = await withAnalysis(t, (_request, nth) => nth === 0 ? writing : { text: 'Done.' }, {
    config: { permissions: { writeFile: 'allow' } }
  })
  const run = await openRun(allowed.app, { ...chat, context: { cwd: allowed.app.cwd } })
  await run.says('Done.')
  t.ok(existsSync(`${allowed.app.cwd}/a.txt`))
  allowed.analysed('simple')
  await run.ended
})

for (const complexity of ['simple', 'standard', 'complex', 'long_running']) {
  t.test(`work called ${complexity} is done with all tools; only long-running work adds a hint, from the second step on`, async (t) => {
    const second = Promise.withResolvers<Plan>()
    const { app, analysed, begun, steps } = await withAnalysis(t, (_request, nth) => nth === 0 ? second.promise : { text: 'Done.' })
    const running = app.inject({ method: 'POST', url: '/run/sync', payload: userSays('go') })
    await begun()
    analysed(complexity)
    await turns()
    second.resolve(look)
    t.match((await running).json(), { text: 'Done.', steps: 2, analysis: { complexity }, toolCalls: [{ status: 'completed' }] })
    const [first, next] = steps().map(({ body }) => ({ tools: body.tools, told: JSON.stringify(body.prompt) }))
    t.notMatch(first.told, /createTask makes it/)
    t.equal(/createTask makes it/.test(next.told), complexity === 'long_running', complexity)
    t.same(next.tools, first.tools)
  })
}

t.test('what is said meanwhile is for the next step, once', async (t) => {
  const held = Promise.withResolvers<Plan>()
  const { app, analysed, begun, steps } = await withAnalysis(t, (_request, nth) => nth === 0 ? held.promise : { text: 'Turned.' })
  const run = await openRun(app, chat)
  await begun()
  await app.inject({ method: 'POST', url: '/run/chat/steer', payload: { message: 'turn left' } })
  held.resolve({ text: 'Straight on. ' })
  analysed('standard')
  await run.ended
  t.equal(textOf(run.events), 'Straight on. Turned.')
  t.same(steps().map(({ body }) => JSON.stringify(body.prompt).split('turn left').length - 1), [0, 1])
})

const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
type Service = Awaited<ReturnType<typeof withAnalysis>>
type Run = Awaited<ReturnType<typeof openRun>>
const ENDS: Record<string, (service: Service, run: Run) => unknown> = {
  'hangs up': (_service, run) => run.hangUp(),
  'stops the run': ({ app }) => app.inject({ method: 'POST', url: '/run/chat/stop' }),
  'deletes the conversation': ({ app }) => app.inject({ method: 'DELETE', url: '/threads/chat' }),
  'ends the service': ({ app }) => app.close()
}
for (const [what, end] of Object.entries(ENDS)) {
  t.test(`a user who ${what} ends the answer and the analysis`, async (t) => {
    const service = await withAnalysis(t, () => stalled)
    const run = await openRun(service.app, chat)
    await service.begun()
    await run.says('first ')
    await end(service, run)
    t.same(await Promise.all(service.gateway.requests.map(({ ended }) => ended)), ['aborted', 'aborted'])
    await run.ended
    while (service.app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
  })
}

t.test('a step that fails ends the run at once, whatever the analysis does', async (t) => {
  const { app } = await withAnalysis(t, () => ({ error: { status: 401, type: 'authentication_error', message: 'no' } }))
  const run = await openRun(app, chat)
  await run.ended
  t.same(types(run.events), ['start', 'start-step', 'error', 'finish'])
})

t.test('an analysis that fails, or takes longer than two seconds, leaves the answer as it is', async (t) => {
  const clock = fakeClock()
  const endings = { fails: ({ failed }: Service) => failed(), 'takes too long': () => clock.advance(2_000) }
  for (const [name, end] of Object.entries(endings)) {
    await t.test(name, async (t) => {
      const service = await withAnalysis(t, () => ({ text: 'Here it is.' }), { clock })
      const run = await openRun(service.app, chat)
      await run.says('text-end')
      await service.begun()
      await end(service)
      await run.ended
      t.same(of(run.events, 'reasoning-delta'), [])
      t.equal(textOf(run.events), 'Here it is.')
      t.equal(service.steps().length, 1)
    })
  }
})

t.test('a budget that is used up ends the run with its own error', async (t) => {
  const { app, analysed } = await withAnalysis(t, () => ({ text: 'never' }), { config: { budget: { day: { tokens: 1 } } } })
  analysed('simple')
  await app.inject({ method: 'POST', url: '/run/sync', payload: userSays('go') })
  const { events } = await say(app, 'again', { options: { interactive: false } })
  t.match(of(events, 'error'), [{ code: 'ERR_BUDGET' }])
})

t.test('an offline fast model beside another main model gives no advice', async (t) => {
  const config = { models: { fast: 'offline/assistant' } }
  const { app, gateway } = await withAnalysis(t, () => ({ text: 'It is a cron line.' }), { config })
  const { events } = await say(app, 'every day at 9 list the files here')
  t.same(kinds(events), ['start', ...ANSWER, 'finish'])
  t.equal(gateway.requests.length, 1)
})
