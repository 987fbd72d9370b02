import t from 'tap'
import type { App } from '../../app.ts'
import { say } from '../harness/agent.ts'
import { idOf } from '../harness/brain.ts'
import { fakeClock } from '../harness/clock.ts'
import { call, extract, known, modelled, pointing, stating, statingModel, user } from '../harness/extraction.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const put = (app: App, id: string, ...messages: object[]) => call(app, 'PUT', `/threads/${id}`, { messages })

t.test('a fact says where it comes from and what it took the place of, page by page', async (t) => {
  const clock = fakeClock()
  const app = await stating(t, { clock })
  await put(
    app,
    'a',
    user('My name is Ada. I live in Paris.', 'm1'),
    { role: 'assistant', content: 'Hello.' },
    user('Thank you.')
  )
  t.strictSame(await extract(app, 'a'), {
    status: 200,
    facts: ['My name is Ada.', 'I live in Paris.'],
    preferences: {},
    added: 2,
    proposed: 0
  })
  await clock.advance(1000)
  await call(app, 'POST', '/memory/brain/fact', { fact: 'Likes chess' })
  await put(app, 'b', user('Hello! I live in Berlin. Call me Countess.', 'm2'))
  t.match(await extract(app, 'b'), { facts: ['I live in Berlin.'], preferences: { name: 'Countess' }, added: 2 })
  const first = await call(app, 'GET', '/memory/brain/facts?limit=2')
  t.match(first.facts, [
    {
      fact: 'I live in Berlin.',
      source: { threadId: 'b', message: 0, messageId: 'm2', span: 'I live in Berlin.' },
      supersedes: 'I live in Paris.'
    },
    { fact: 'Likes chess' }
  ])
  const second = await call(app, 'GET', `/memory/brain/facts?cursor=${first.nextCursor}`)
  t.match(second.facts, [{ fact: 'My name is Ada.', source: { threadId: 'a', message: 0, messageId: 'm1' } }])
  t.notOk('source' in first.facts[1] || 'nextCursor' in second)
  t.match(await call(app, 'GET', '/memory/brain'), {
    brain: { facts: ['My name is Ada.', 'Likes chess', 'I live in Berlin.'], preferences: { name: 'Countess' } },
    contextPreview: /- I live in Berlin/
  })
  t.match((await call(app, 'GET', '/memory/brain/facts?state=replaced')).facts, [
    { fact: 'I live in Paris.', state: 'replaced', replacedBy: first.facts[0].id }
  ])
  await clock.advance(1000)
  await put(app, 'c', user('I moved to Rome.'))
  t.match(await extract(app, 'c'), { facts: [], added: 0, proposed: 1 }, 'that it takes the place of the other is said by a model alone')
  t.match((await call(app, 'GET', '/memory/brain/facts?state=proposed')).facts, [
    { fact: 'I moved to Rome.', state: 'proposed', supersedes: 'I live in Berlin.' }
  ])
  t.match(await extract(app, 'nobody'), { status: 404, code: 'ERR_THREAD_NOT_FOUND' })
})

t.test('what the user removed or cleared is not learned again from what was said before, but from what is said anew', async (t) => {
  const clock = fakeClock()
  const app = await stating(t, { clock })
  const tell = async (content: string) => {
    await clock.advance(1000)
    await say(app, content, { id: 'chat' })
    return extract(app, 'chat')
  }
  await tell('I live in Paris. I prefer tea.')
  await clock.advance(1000)
  await call(app, 'DELETE', '/memory/brain/fact', { fact: 'I live in Paris.' })
  await clock.advance(1000)
  t.match(await extract(app, 'chat'), { facts: ['I prefer tea.'], added: 0 })
  await app.inject({
    method: 'POST',
    url: '/run',
    payload: { id: 'fork', messages: [user('I live in Paris. I prefer tea.'), { role: 'assistant', content: 'ok' }, user('hello')] }
  })
  t.match(await extract(app, 'fork'), { added: 0 })
  await app.inject({
    method: 'POST',
    url: '/run',
    payload: { id: 'chat', messages: [user('I live in Paris. I prefer tea.')], trigger: 'regenerate-message' }
  })
  t.match(await extract(app, 'chat'), { added: 0 }, 'an answer asked for again is not said again')
  t.match(await tell('I live in Paris.'), { added: 1 }, 'said anew')

  await clock.advance(1000)
  await call(app, 'DELETE', '/memory/brain')
  await clock.advance(1000)
  t.match(await extract(app, 'chat'), { facts: [], added: 0 })
  t.same((await call(app, 'GET', '/memory/brain/facts')).facts, [])
  t.match(await tell('I live in Rome. It rains. What a day. Good night.'), { facts: ['I live in Rome.'], added: 1 })
})

t.test('what was said about a subject before it was forgotten is not learned, whenever its conversation is read', async (t) => {
  const clock = fakeClock()
  const forget = { toolName: 'forget', input: { about: 'Lake Orta', span: 'Forget everything about Lake Orta' } }
  const { app } = await withGateway(t, ({ body }) => {
    const last = body.prompt.findLast(({ role }: { role: string }) => role !== 'system')
    if (last.role === 'tool') return { text: last.content[0].output.value.message }
    return JSON.stringify(last.content).includes('Forget') ? { toolCalls: [forget] } : { text: 'ok' }
  }, { clock, config: { brain: { extractAfter: false } }, structured: (_name, { body }) => statingModel(body.prompt[1].content[0].text) })
  const tell = async (id: string, content: string) => {
    await clock.advance(1000)
    return textOf((await say(app, content, { id })).events)
  }
  await tell('old', 'I prefer the north of Lake Orta. I prefer Lake Vänern in summer. I live near the Orta lakes.')
  await tell('other', 'Hello!')
  const answer = await tell('new', 'Forget everything about Lake Orta.')
  t.match(answer, /Nothing is remembered.*and nothing that you said about it so far will be/)
  await tell('other', 'I prefer Lake Orta by bike.')
  t.match(await extract(app, 'old'), { facts: ['I prefer Lake Vänern in summer.'], added: 1 })
  t.match(await extract(app, 'new'), { added: 0 })
  t.match(await extract(app, 'other'), { facts: ['I prefer Lake Orta by bike.'], added: 1 }, 'said since')
})

t.test('an older thread that is read later takes the place of nothing newer', async (t) => {
  const clock = fakeClock()
  const app = await stating(t, { clock })
  await put(app, 'old', user('I live in Paris. Call me Bob.'))
  await clock.advance(1000)
  await put(app, 'new', user('I live in Rome. Call me Robert.'))
  await extract(app, 'new')
  t.match(await extract(app, 'old'), { facts: [], preferences: {}, added: 0 })
  t.same(await known(app), ['I live in Rome.'])
  t.same((await call(app, 'GET', '/memory/brain')).brain.preferences, { name: 'Robert' })
})

t.test('of very many new messages the newest 500 are looked at, each of them', async (t) => {
  const app = await stating(t)
  await put(app, 'chat', user('hello'))
  await app.extraction.extract('chat', { since: 'last' })
  const more = Array.from({ length: 500 }, (_, n) => user(n === 0 ? 'My name is Ada.' : `say ${n}`))
  await put(app, 'chat', user('hello'), ...more)
  t.match(await app.extraction.extract('chat', { since: 'last' }), { facts: ['My name is Ada.'] })
  await put(app, 'other', user('I live in Rome.'), user('I prefer tea.'), ...more.slice(1))
  t.match(await extract(app, 'other'), { facts: ['I prefer tea.'] })
})

t.test('a full brain learns no more, and is not lost', async (t) => {
  const app = await stating(t)
  await app.brain.ingest(
    Array.from(
      { length: 1_000 },
      (_, n) => ({
        kind: 'fact' as const,
        fact: `I like number ${n}`,
        replaces: [],
        isRetraction: false,
        isUnsure: false,
        said: 1,
        source: { threadId: 'x', message: 0, span: '' }
      })
    )
  )
  await put(app, 'chat', user('I live in Paris. My name is Ada.'))
  t.match(await extract(app, 'chat'), { status: 200, facts: [], added: 0 })
  t.equal((await known(app)).length, 1_000)
})

t.test("a model is shown the user's words alone, and what it makes of them is checked", async (t) => {
  const { app, gateway } = await modelled(t, () =>
    pointing(
      [0, 'born in Lisbon'],
      [0, 'I live in Rome'],
      [1, 'likes ads'],
      [0, 'likes fado'],
      [7, 'I was born'],
      [0, 'I want dates', { kind: 'preference', key: 'dates', value: 'like 2026-01-31' }]
    ))
  await say(app, 'I was born in Lisbon. I want dates like 2026-01-31. My wife said "he likes fado".', { id: 'chat' })
  await say(app, 'hello', { id: 'chat' })
  t.strictSame(await extract(app, 'chat'), {
    status: 200,
    facts: ['I was born in Lisbon.'],
    preferences: { dates: 'like 2026-01-31' },
    added: 2,
    proposed: 0,
    rejected: [
      { reason: 'the words stand in no message of the user', count: 2 },
      { reason: 'the words stand in a quotation, in code or in quoted lines', count: 1 },
      { reason: 'the message does not exist', count: 1 }
    ]
  })
  const { prompt } = gateway.requests.at(-1)!.body
  t.notMatch(JSON.stringify(prompt), /Rome|ads/)
  t.match(prompt[1].content[0].text, /\n\[0\] I was born in Lisbon[^]*\[1\] hello$/)
})

const MINUTE = 60_000

/** What repeats in a service that listens; here it is asked by hand. */
function rounds (app: App, brain: { extractAfter?: number | false } = {}) {
  return () => {
    Object.assign(app.config.current, { brain })
    return app.idleThreads.round(new AbortController().signal)
  }
}

t.test('a thread that has rested is looked through once, also after a restart', async (t) => {
  const clock = fakeClock()
  const first = await stating(t, { clock })
  await say(first, 'My name is Ada.', { id: 'one' })
  await clock.advance(MINUTE)
  await say(first, 'I live in Paris.')
  t.equal(await rounds(first)(), MINUTE)
  t.same(await known(first), [])
  await first.close()

  const app = await stating(t, { clock, home: first.home, cwd: first.cwd })
  await clock.advance(9 * MINUTE)
  t.equal(await rounds(app)(), MINUTE, 'the second has rested in a minute')
  t.same(await known(app), ['My name is Ada.'])
  await call(app, 'DELETE', '/memory/brain')
  await clock.advance(10 * MINUTE)
  await say(app, 'I prefer tea.', { id: 'three' })
  await rounds(app)()
  t.same(await known(app), [], 'the brain was cleared after all of it was said')
  await clock.advance(20 * MINUTE)
  await rounds(app, { extractAfter: false })()
  t.same(await known(app), [])
  await rounds(app)()
  t.same(await known(app), ['I prefer tea.'])
})

t.test('what was typed gets topics, although an earlier entry belongs to a conversation about which no model can be asked', async (t) => {
  const clock = fakeClock()
  const asked = Promise.withResolvers<string>()
  const { app } = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    structured (name, { body }) {
      if (name === 'topics') asked.resolve(body.prompt[1].content[0].text)
      return { object: name === 'topics' ? { entries: [] } : { pointers: [] } }
    }
  })
  await say(app, 'remember that I live in Ghent', { id: 'chat', options: { model: 'offline/assistant' } })
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Nuts make me ill' } })
  t.same(await known(app), ['remember that I live in Ghent', 'Nuts make me ill'])
  await app.listen({ port: 0, host: '127.0.0.1' })
  await clock.sleeper(MINUTE)
  await clock.advance(5_000)
  await clock.sleeper(MINUTE)
  await clock.advance(MINUTE)
  t.equal(await asked.promise, 'e1: "Nuts make me ill"')
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
  await clock.sleeper(2 * MINUTE)
  await clock.advance(2 * MINUTE)
  await heard.promise
  t.same(await known(app), ['My name is Ada.'])
})

t.test('a thread under a run is left until that has ended', async (t) => {
  const { app, clock } = await modelled(t, () => pointing([0, 'I prefer tea']), {}, {
    text: 'Well',
    ending: 'stall'
  })
  const live = await app.agent.run({ messages: [user('I prefer tea.')], id: 'chat', resumable: true })
  const round = rounds(app, { extractAfter: 1_000 })
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

t.test('a model that fails answers 502 to who asks; a rested thread waits for it, and for three answers that cannot be read', async (t) => {
  let answer: object = { error: { status: 400, message: 'no' } }
  const { app, clock, asked } = await modelled(t, () => answer)
  await say(app, 'My name is Ada.', { id: 'chat' })
  t.match(await extract(app, 'chat'), { status: 502, error: /fast/ })
  const round = rounds(app)
  const readSixTimes = async () => {
    for (let n = 0; n < 6; n++) {
      await clock.advance(31 * MINUTE)
      await round()
      await round()
    }
  }
  await readSixTimes()
  t.equal(asked.length, 7)
  answer = { object: 'nonsense' }
  await readSixTimes()
  t.equal(asked.length, 10)
  answer = pointing([0, 'My name is Ada'])
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

t.test('a message that is changed while its thread is being read is read as well', async (t) => {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const clock = fakeClock()
  const { app } = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    config: { brain: { extractAfter: false } },
    async structured (_name, { body }) {
      begun.resolve()
      await held.promise
      return statingModel(body.prompt[1].content[0].text)
    }
  })
  await call(app, 'PUT', '/threads/chat', { messages: [user('I live in Ghent.')] })
  await clock.advance(10 * MINUTE)
  const reading = rounds(app)()
  await begun.promise
  await call(app, 'PUT', '/threads/chat', { messages: [user('My name is Ada.')] })
  held.resolve()
  await reading
  await clock.advance(10 * MINUTE)
  await rounds(app)()
  t.same(await known(app), ['I live in Ghent.', 'My name is Ada.'])
})
