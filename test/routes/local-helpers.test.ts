import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { startFakeOpenAI, type OpenAIRequest, type Plan } from '../fakes/openai.ts'
import { fakeClock } from '../harness/clock.ts'
import { pointing, user } from '../harness/extraction.ts'
import { parseEvents, textOf } from '../harness/sse.ts'
import { withDirect } from '../harness/with-direct.ts'

const QUIET_MS = 11 * 60_000
const OLLAMA = { '/api/tags': () => ({ models: [{ name: 'llama3', details: { family: 'llama' } }] }) }

interface Parts { others?: object, provider?: { local?: boolean }, providers?: object, models?: object }

/** A service with analysis, titles and extraction, and a server that works on one request at a time, in the order in which they came. */
async function oneAtATime (t: Test, { others, ...more }: Parts = {}) {
  const clock = fakeClock()
  const order: string[] = []
  const helpers: Array<{ name: string, body: any, answer: (plan?: Plan) => void, ended: OpenAIRequest['ended'] }> = []
  let before: Promise<unknown> = Promise.resolve()
  const seen = new Map<string, PromiseWithResolvers<void>>()
  const seenOf = (name: string) => seen.get(name) ?? seen.set(name, Promise.withResolvers()).get(name)!
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const made = await withDirect(t, undefined, {
    clock,
    provider: more.provider,
    config: { analysis: true, ...more.models && { models: more.models } },
    providers: more.providers,
    server: {
      others: (others ?? OLLAMA) as any,
      async reply (request) {
        const name = request.structured ?? 'main'
        const mine = before
        before = request.ended
        await mine
        order.push(name)
        if (JSON.stringify(request.body).includes('Wait for me')) {
          begun.resolve()
          await released.promise
        }
        if (name === 'main') return { text: `answer ${order.length}` }
        const { promise, resolve } = Promise.withResolvers<Plan | undefined>()
        helpers.push({ name, body: request.body, answer: resolve, ended: request.ended })
        seenOf(`${name} ${helpers.filter((each) => each.name === name).length}`).resolve()
        return promise
      }
    }
  })
  const { app } = made
  return {
    ...made,
    clock,
    order,
    helpers,
    held: { begun: begun.promise, release: released.resolve },
    /** Resolves to the nth helper call of a name, counted from 1. */
    async helper (name: string, nth = 1) {
      await seenOf(`${name} ${nth}`).promise
      return helpers.filter((each) => each.name === name)[nth - 1]
    },
    say: (content: string) => sayIn(app, 'chat', content)
  }
}

async function sayIn (app: App, id: string, content: string): Promise<string> {
  const { payload } = await app.inject({ method: 'POST', url: '/run', payload: { id, message: user(content) } })
  return textOf(parseEvents(payload))
}

t.test('on a local server helpers wait for the user, stop for the next message, and are asked again', async (t) => {
  const { app, say, order, helper, helpers, clock } = await oneAtATime(t)
  t.equal(await say('I live in Rome.'), 'answer 1')
  const title = await helper('title')
  t.equal(title.body.max_tokens, 40)

  t.equal(await say('And now?'), 'answer 3', 'the answer did not wait for a title that never comes')
  t.equal(await title.ended, 'aborted')
  t.same(order.slice(0, 3), ['main', 'title', 'main'], 'without an analysis')

  const again = await helper('title', 2)
  again.answer({ object: { title: 'Living in Rome' } })
  await app.titles.idle()
  t.equal((await app.inject('/threads/chat')).json().title, 'Living in Rome')

  await clock.advance(QUIET_MS)
  const round = app.idleThreads.round(new AbortController().signal)
  const facts = await helper('facts')
  t.equal(facts.body.max_tokens, 400)
  t.equal(await say('One more thing.'), `answer ${order.length}`)
  t.equal(await facts.ended, 'aborted')
  ;(await helper('facts', 2)).answer(pointing([0, 'I live in Rome.']))
  await round
  t.same((await app.inject('/memory/brain')).json().brain.facts, ['I live in Rome.'])
  t.same(order, ['main', 'title', 'main', 'title', 'facts', 'main', 'facts'])
  t.equal(helpers.filter(({ name }) => name === 'analysis').length, 0)
})

t.test('an extraction does not begin while a run uses the server', async (t) => {
  const { app, say, order, helper, clock, held } = await oneAtATime(t)
  await say('I live in Rome.')
  ;(await helper('title')).answer({ object: { title: 'Living in Rome' } })
  await app.titles.idle()
  await clock.advance(QUIET_MS)
  const other = sayIn(app, 'other', 'Wait for me')
  await held.begun
  await app.idleThreads.round(new AbortController().signal)
  held.release()
  t.match(await other, /answer/)
  t.same(order.slice(0, 3), ['main', 'title', 'main'])
})

t.test('the plan of a task and what is learned of its run wait for conversations, and stop for their messages', async (t) => {
  const { app, say, order, helper, held } = await oneAtATime(t)
  const create = async (goal: string) =>
    (await app.inject({ method: 'POST', url: '/tasks', payload: { goal, taskType: 'one_shot', approval: { mode: 'never' } } })).json()
  const made = create('Look around')
  const plan = await helper('plan')
  t.match(await say('Hello'), /answer/, 'the answer did not wait for the plan')
  t.equal(await plan.ended, 'aborted')
  ;(await helper('plan', 2)).answer({ object: { phases: [{ description: 'Look' }], qualityCriteria: [], expects: 'answer' } })
  const { id, plan: { source } } = await made
  t.equal(source, 'model')

  await app.inject({ method: 'POST', url: `/tasks/${id}/start` })
  ;(await helper('evaluation')).answer({ object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] } })
  const learning = await helper('task-memory')
  const other = sayIn(app, 'other', 'Wait for me')
  t.equal(await learning.ended, 'aborted')
  await held.begun
  t.equal((await create('Look again')).plan.source, 'fallback', 'no plan is asked for while a run uses the server')
  held.release()
  await other
  ;(await helper('task-memory', 2)).answer({ object: { findings: [], decisions: [], outdated: [] } })
  const { runs: [{ runId }] } = (await app.inject(`/runs?taskId=${id}`)).json()
  t.equal((await app.inject(`/runs/${runId}?waitMs=20000`)).json().status, 'completed')
  t.equal(order.filter((name) => name === 'plan').length, 2)
})

t.test('a local server that is too busy to say what it is stays one, and is asked again soon', async (t) => {
  let [isBusy, asked] = [false, 0]
  const tags = () => {
    asked++
    return isBusy ? undefined : OLLAMA['/api/tags']()
  }
  const { app, say, order, helper, clock } = await oneAtATime(t, { others: { '/api/tags': tags } })
  await say('Hello')
  ;(await helper('title')).answer({ object: { title: 'A greeting' } })
  await app.titles.idle()
  isBusy = true
  for (const ms of [6 * 60_000, 30_000]) {
    const before = asked
    await clock.advance(ms)
    await say('Still there?')
    t.ok(asked > before, 'it is asked')
  }
  t.same(order, ['main', 'title', 'main', 'main'], 'without an analysis')
})

const ELSEWHERE: Array<[string, Parts]> = [
  ['is not known to be local', { others: {} }],
  ['is said not to be', { provider: { local: false } }]
]
for (const [what, parts] of ELSEWHERE) {
  t.test(`a server that ${what} is asked for an analysis`, async (t) => {
    const { app, helper, order } = await oneAtATime(t, parts)
    const answer = sayIn(app, 'chat', 'Hello')
    ;(await helper('analysis')).answer()
    await answer
    ;(await helper('title')).answer({ object: { title: 'A greeting' } })
    await app.titles.idle()
    t.ok(order.includes('analysis'))
  })
}

t.test('"local" in config.json makes any server one', async (t) => {
  const { app, say, helper, order } = await oneAtATime(t, { others: {}, provider: { local: true } })
  await say('Hello')
  ;(await helper('title')).answer()
  await app.titles.idle()
  t.same(order, ['main', 'title'])
})

t.test('a fast model on another server analyses beside a local one', async (t) => {
  const elsewhere = await startFakeOpenAI()
  t.teardown(() => elsewhere.close())
  const { app, order } = await oneAtATime(t, {
    models: { fast: 'elsewhere/small' },
    providers: { elsewhere: { baseURL: elsewhere.url, local: true } }
  })
  await sayIn(app, 'chat', 'Hello')
  await app.titles.idle()
  t.same(elsewhere.calls.map(({ structured }) => structured), ['analysis', 'title'])
  t.same(order, ['main'])
})
