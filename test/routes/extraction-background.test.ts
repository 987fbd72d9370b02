import t from 'tap'
import type { App } from '../../app.ts'
import { createIdleThreads } from '../../services/brain/extraction/idle-threads.ts'
import { say } from '../harness/agent.ts'
import { idOf } from '../harness/brain.ts'
import { fakeClock } from '../harness/clock.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { call, extract, known, modelled, pointing, stating, user } from '../harness/extraction.ts'

const MINUTE = 60_000

/** What listens in a service that listens; here it is asked by hand. */
function rounds (app: App, clock: ReturnType<typeof fakeClock>, after: () => number | false | undefined = () => undefined) {
  const { round } = createIdleThreads({
    threads: app.threadRepository,
    extractor: app.extraction,
    clock,
    isLive: app.agent.isLive,
    after,
    log: app.log
  })
  return () => round(new AbortController().signal)
}

t.test('a thread that has rested is looked through once, also after a restart', async (t) => {
  const clock = fakeClock()
  const first = await stating(t, { clock })
  await say(first, 'My name is Ada.', { id: 'one' })
  await clock.advance(MINUTE)
  await say(first, 'I live in Paris.')
  t.equal(await rounds(first, clock)(), MINUTE)
  t.same(await known(first), [])
  await first.close()

  const app = await stating(t, { clock, home: first.home, cwd: first.cwd })
  await clock.advance(9 * MINUTE)
  t.equal(await rounds(app, clock)(), MINUTE, 'the second has rested in a minute')
  t.same(await known(app), ['My name is Ada.'])
  await call(app, 'DELETE', '/memory/brain')
  await clock.advance(10 * MINUTE)
  await say(app, 'I prefer tea.', { id: 'three' })
  await rounds(app, clock)()
  t.same(await known(app), [], 'the brain was cleared after all of it was said')
  await clock.advance(20 * MINUTE)
  await rounds(app, clock, () => false)()
  t.same(await known(app), [])
  await rounds(app, clock)()
  t.same(await known(app), ['I prefer tea.'])
})

t.test('what was typed gets topics and the mark of what is important, once, and then fits a message', async (t) => {
  const clock = fakeClock()
  const asked: string[] = []
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    structured (name, { body }) {
      if (name !== 'topics') return { object: { pointers: [] } }
      asked.push(body.prompt[1].content[0].text)
      return { object: { entries: [{ id: 'e1', topics: ['food', 'dinner'], important: true }, { id: 'e9', topics: 7 }, 'no'] } }
    }
  })
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Nuts make me ill' } })
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const filed = Promise.withResolvers<void>()
  const { file } = app.brain
  app.brain.file = async (entries) => {
    await file(entries)
    filed.resolve()
  }
  // By then all that begins with listening sleeps.
  await clock.sleeper(MINUTE)
  await clock.advance(5_000)
  t.same(asked, [], 'what was typed just now waits for more')
  await clock.sleeper(MINUTE)
  await clock.advance(MINUTE)
  await filed.promise
  t.same(asked, ['e1: "Nuts make me ill"\ne2: "Likes tea"'])
  t.match((await app.inject('/memory/brain/facts')).json().facts, [{ fact: 'Likes tea', important: undefined }, { important: true }])
  await clock.sleeper(MINUTE)
  await clock.advance(MINUTE)
  await clock.sleeper(MINUTE)
  t.equal(asked.length, 1, 'nobody is asked again')

  await say(app, 'hello', { id: 'chat' })
  await app.inject({ method: 'PUT', url: `/memory/brain/facts/${await idOf(app, 'Nuts make me ill')}`, payload: { important: false } })
  const entries = await app.toldMemory.ofThread('chat', [{ role: 'user', content: [{ type: 'text', text: 'Dinner?' }] }], { isNew: true })
  t.same([...(await entries.recalled()).values()], [], 'the prompt of the conversation holds it')
  t.match(gateway.requests.at(-1)!.body.prompt[0].content, 'Nuts make me ill')
})

t.test('a service that listens looks through rested threads by itself', async (t) => {
  const clock = fakeClock()
  const app = await stating(t, { clock, config: { brain: { extractAfter: 2_000 } } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  await say(app, 'My name is Ada.', { id: 'chat' })
  const heard = Promise.withResolvers<void>()
  const { markRead } = app.threadRepository
  app.threadRepository.markRead = async (...args) => {
    await markRead(...args)
    heard.resolve()
  }
  // By then all that begins with listening sleeps.
  await clock.sleeper(MINUTE)
  await clock.advance(8_000)
  await heard.promise
  t.same(await known(app), ['My name is Ada.'])
})

t.test('a thread under a run is left until that has ended', async (t) => {
  const { app, clock } = await modelled(t, () => pointing([0, 'I prefer tea']), {}, {
    text: 'Well',
    ending: 'stall'
  })
  const live = await app.agent.run({ messages: [user('I prefer tea.')], id: 'chat', resumable: true })
  const round = rounds(app, clock, () => 1_000)
  await live.batches(new AbortController().signal).next()
  await clock.advance(2_000)
  await round()
  t.same(await known(app), [])
  await app.agent.stop('chat')
  live.unsubscribe()
  await clock.advance(2_000)
  await round()
  t.same(await known(app), ['I prefer tea.'])
})

t.test('a model that fails is said to: a 502 who asks, three attempts for a thread that rests', async (t) => {
  let isDown = true
  const { app, clock, asked } = await modelled(
    t,
    () =>
      isDown ? { error: { status: 400, message: 'no' } } : pointing([0, 'My name is Ada'])
  )
  await say(app, 'My name is Ada.', { id: 'chat' })
  t.match(await extract(app, 'chat'), { status: 502, error: /fast/ })
  const round = rounds(app, clock)
  for (let n = 0; n < 6; n++) {
    await clock.advance(31 * MINUTE)
    await round()
    await round()
  }
  t.equal(asked.length, 4)
  isDown = false
  t.match(await extract(app, 'chat'), { facts: ['My name is Ada.'], added: 1 })
})

t.test("a named thread is given a title after its first exchange, never in the way of its stream, and its user's title " +
  'stays', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app, gateway } = await withGateway(t, () => ({ text: 'Take the tram.' }), {
    config: { threads: { titles: true } },
    structured: async (name) => {
      await release.promise
      return { object: name === 'title' ? { title: ' "Lisbon by\ntram." ' } : {} }
    }
  })
  const title = async (id: string) => (await call(app, 'GET', `/threads/${id}`)).title
  await say(app, 'How do I get around in Lisbon?', { id: 'a' })
  await say(app, 'How do I get around in Porto?', { id: 'b' })
  const unnamed = await say(app, 'How do I get around in Faro?')
  t.equal(await title('a'), 'How do I get around in Lisbon?')
  await call(app, 'PUT', '/threads/b', { title: 'Porto' })
  release.resolve()
  await app.titles.idle()
  t.same([await title('a'), await title('b'), await title(unnamed.headers['x-thread-id'])], [
    'Lisbon by tram',
    'Porto',
    'How do I get around in Faro?'
  ])
  t.equal(gateway.requests.filter(({ structured }) => structured === 'title').length, 1)
  await say(app, 'And back?', { id: 'a' })
  await app.titles.idle()
  t.equal(gateway.requests.filter(({ structured }) => structured === 'title').length, 1)
})
