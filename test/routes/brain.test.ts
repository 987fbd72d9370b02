import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { brain, call, idOf, learning, list, memoryOf, texts } from '../harness/brain.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'

const request = async (app: App, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
  const answer = await app.inject({ method, url, payload })
  return { status: answer.statusCode, body: answer.json() }
}
const recall = (app: App) => request(app, 'GET', '/memory/brain').then(({ body }) => body)
const learn = (app: App, fact: unknown) => request(app, 'POST', '/memory/brain/fact', { fact })
const forget = (app: App, fact: unknown) => request(app, 'DELETE', '/memory/brain/fact', { fact })
const prefer = (app: App, key: unknown, value: unknown) => request(app, 'POST', '/memory/brain/pref', { key, value })

/** The service with a brain that holds `facts` and `preferences` from the start. */
async function remembering (t: Test, brain: Parameters<typeof memoryOf>[0]) {
  const app = await build(t)
  await app.store.record<object>('brain', () => ({})).update(() => memoryOf(brain))
  return app
}

t.test('a new brain is empty, whole, and adds nothing to a prompt', async (t) => {
  t.strictSame(await recall(await build(t)), { brain: { facts: [], preferences: {}, patterns: [], updatedAt: 0 }, contextPreview: '' })
})

t.test('facts are learned and removed, preferences set and overwritten, everything cleared', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const empty = { facts: [], preferences: {}, patterns: [] }
  t.strictSame(await learn(app, 'Likes tea'), {
    status: 200,
    body: { status: 'learned', brain: { ...empty, facts: ['Likes tea'], updatedAt: clock.now() } }
  })
  await learn(app, 'Lives in Bremen')
  t.strictSame(await prefer(app, 'theme', 'light'), {
    status: 200,
    body: {
      status: 'set',
      brain: { ...empty, facts: ['Likes tea', 'Lives in Bremen'], preferences: { theme: 'light' }, updatedAt: clock.now() }
    }
  })
  t.strictSame((await prefer(app, 'theme', 'dark')).body.brain.preferences, { theme: 'dark' })
  t.strictSame(await forget(app, 'Likes tea'), {
    status: 200,
    body: { status: 'removed', brain: { ...empty, facts: ['Lives in Bremen'], preferences: { theme: 'dark' }, updatedAt: clock.now() } }
  })
  t.strictSame(await recall(app), {
    brain: { facts: ['Lives in Bremen'], preferences: { theme: 'dark' }, patterns: [], updatedAt: clock.now() },
    contextPreview: '## Known facts\n- Lives in Bremen\n\n## Preferences\n- theme: dark'
  })
  t.strictSame(await request(app, 'DELETE', '/memory/brain'), { status: 200, body: { status: 'cleared' } })
  t.strictSame(await recall(app), { brain: { ...empty, updatedAt: clock.now() }, contextPreview: '' })
})

t.test('forgetting a fact that is not stored answers 404 and changes nothing', async (t) => {
  const app = await build(t)
  await learn(app, 'Prefers tea')
  for (const other of ['prefers coffee', 'prefers tea', 'Prefers te']) {
    t.match(
      await forget(app, other),
      { status: 404, body: { error: /No stored fact/, code: 'ERR_FACT_NOT_FOUND', statusCode: 404 } },
      other
    )
  }
  t.same((await recall(app)).brain.facts, ['Prefers tea'])
})

t.test('only the fact that was given is forgotten', async (t) => {
  const app = await remembering(t, { facts: ['one', 'two', 'three'] })
  t.same((await forget(app, 'two')).body.brain.facts, ['one', 'three'])
})

t.test('a fact is kept trimmed and composed, and forgotten however it is padded or composed', async (t) => {
  const app = await build(t)
  t.same((await learn(app, '  Owns a cafe\u0301\n')).body.brain.facts, ['Owns a café'])
  t.same((await forget(app, '\tOwns a cafe\u0301 ')).body.brain.facts, [])
})

t.test('a fact known in another case is learned without a double, as it was first said', async (t) => {
  const app = await build(t)
  await learn(app, 'Lives in MÜNCHEN')
  t.match(await learn(app, ' lives in mu\u0308nchen '), {
    status: 200,
    body: { status: 'learned', brain: { facts: ['Lives in MÜNCHEN'] } }
  })
  t.same((await recall(app)).brain.facts, ['Lives in MÜNCHEN'])
})

t.test('only what changes something changes the time', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const timeAfter = async (change: () => Promise<unknown>) => {
    await clock.advance(1_000)
    await change()
    return (await recall(app)).brain.updatedAt === clock.now()
  }
  t.notOk(await timeAfter(() => request(app, 'DELETE', '/memory/brain')), 'cleared while empty')
  t.ok(await timeAfter(() => learn(app, 'Likes tea')), 'learned')
  t.notOk(await timeAfter(() => learn(app, 'likes TEA')), 'learned again')
  t.ok(await timeAfter(() => prefer(app, 'theme', 'dark')), 'set')
  t.notOk(await timeAfter(() => prefer(app, 'theme', 'dark')), 'set to the same')
  t.ok(await timeAfter(() => prefer(app, 'theme', 'light')), 'overwritten')
  t.notOk(await timeAfter(() => forget(app, 'Likes coffee')), 'not found')
  t.notOk(await timeAfter(() => learn(app, '')), 'refused')
  t.ok(await timeAfter(() => forget(app, 'Likes tea')), 'forgotten')
  t.ok(await timeAfter(() => request(app, 'DELETE', '/memory/brain')), 'cleared')
})

t.test('facts have 1 to 2,000 characters after trimming', async (t) => {
  const app = await build(t)
  for (const fact of ['x', ` ${'😀'.repeat(2_000)} `]) t.equal((await learn(app, fact)).status, 200)
  for (const fact of ['', ' \n ', 'x'.repeat(2_001)]) {
    for (const change of [learn, forget]) {
      t.match(await change(app, fact), {
        status: 400,
        body: { error: /body\.fact must have 1 to 2000 characters/, code: 'ERR_INVALID_REQUEST', statusCode: 400 }
      })
    }
  }
  t.equal((await recall(app)).brain.facts.length, 2)
})

t.test('keys have 1 to 200 characters after trimming, values up to 2,000, kept as they are', async (t) => {
  const app = await build(t)
  t.same((await prefer(app, ` ${'k'.repeat(200)}\n`, `  ${'v'.repeat(1_998)}`)).body.brain.preferences, {
    ['k'.repeat(200)]: `  ${'v'.repeat(1_998)}`
  })
  t.equal((await prefer(app, 'empty', '')).body.brain.preferences.empty, '')
  for (const key of ['', ' ', 'k'.repeat(201)]) {
    t.match(await prefer(app, key, 'v'), { status: 400, body: { error: /body\.key must have 1 to 200 characters/ } })
  }
  t.match(await prefer(app, 'k', 'v'.repeat(2_001)), { status: 400, body: { error: /body\.value .*2000/, details: [{ path: '/value' }] } })
  t.equal(Object.keys((await recall(app)).brain.preferences).length, 2)
})

t.test('bodies that are not what is documented are refused, with the field and the allowed names', async (t) => {
  const app = await build(t)
  for (const fact of [undefined, null, 5, ['x'], {}]) {
    t.match(await learn(app, fact), { status: 400, body: { error: /fact/, details: [{ message: String }] } })
    t.match(await forget(app, fact), { status: 400, body: { error: /fact/ } })
  }
  for (const [key, value] of [['k', 5], ['k', undefined], [undefined, 'v'], [null, 'v']]) {
    t.match(await prefer(app, key, value), { status: 400, body: { error: /key|value/ } })
  }
  t.match(await request(app, 'POST', '/memory/brain/fact', { fact: 'x', facts: [] }), {
    status: 400,
    body: { error: /unknown field "facts"; allowed are fact/ }
  })
  t.match(await request(app, 'POST', '/memory/brain/pref', { key: 'k', value: 'v', other: 1 }), {
    status: 400,
    body: { error: /unknown field "other"; allowed are key, value/ }
  })
  t.match(await request(app, 'POST', '/memory/brain/fact'), { status: 400, body: { error: /body is missing/ } })
  t.equal((await recall(app)).brain.updatedAt, 0)
})

t.test('beyond 1,000 facts a new one is a 409 that says what to do; a known one is still learned', async (t) => {
  const facts = Array.from({ length: 999 }, (_, i) => `fact ${i}`)
  const app = await remembering(t, { facts })
  t.equal((await learn(app, 'the last one')).status, 200)
  t.match(await learn(app, 'one more'), {
    status: 409,
    body: { error: /DELETE \/memory\/brain\/fact/, code: 'ERR_TOO_MANY_FACTS', statusCode: 409 }
  })
  t.equal((await learn(app, 'FACT 7')).status, 200)
  t.equal((await recall(app)).brain.facts.length, 1_000)
  await forget(app, 'fact 7')
  t.equal((await learn(app, 'one more')).status, 200)
})

t.test('beyond 1,000 preferences a new key is a 409; a known one is overwritten', async (t) => {
  const app = await remembering(t, { preferences: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key ${i}`, 'v'])) })
  for (const key of ['one more', 'toString']) {
    t.match(await prefer(app, key, 'v'), {
      status: 409,
      body: { error: /DELETE \/memory\/brain/, code: 'ERR_TOO_MANY_PREFERENCES', statusCode: 409 }
    })
  }
  t.equal((await prefer(app, 'key 7', 'w')).body.brain.preferences['key 7'], 'w')
})

t.test('names that every object has are keys like any other', async (t) => {
  const app = await build(t)
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '7', 'two\nlines']
  for (const name of names) {
    t.equal((await prefer(app, name, `first ${name}`)).status, 200, name)
    t.equal((await prefer(app, name, `my ${name}`)).status, 200, name)
  }
  await app.close()
  const { brain, contextPreview } = await recall(await build(t, { home: (app as any).home, cwd: (app as any).cwd }))
  t.strictSame(Object.entries(brain.preferences).sort(), names.map((name) => [name, `my ${name}`]).sort())
  for (const name of names.slice(0, -1)) t.match(contextPreview, `\n- ${name}: my ${name}`)
  t.match(contextPreview, '\n- two lines: my two lines')
  t.equal(({} as any).my, undefined)
})

t.test('`__proto__` as a key of a body itself is refused', async (t) => {
  const app = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/memory/brain/pref',
    headers: { 'content-type': 'application/json' },
    payload: '{"key":"k","value":"v","__proto__":{"value":"w"}}'
  })
  t.match([answer.statusCode, answer.json().error], [400, /__proto__/])
})

t.test('facts are searched, in any state, and paged', async (t) => {
  const { app, tell } = await learning(t)
  for (const fact of ['Ich wohne in MÜNCHEN.', 'I like tea.', 'I live in Oslo.']) await tell(fact)
  await tell('I may live in Rome.', { isUnsure: true })
  t.same(await texts(app, '?q=m%C3%BCnchen'), ['Ich wohne in MÜNCHEN.'])
  t.same(await texts(app, '?q=%20LIVE%20in'), ['I live in Oslo.'])
  t.same(await texts(app, '?state=proposed'), ['I may live in Rome.'])
  t.same(await texts(app, '?state=replaced'), [])
  const first = (await call(app, 'GET', '/facts?limit=2')).body
  t.same(first.facts.map(({ fact }: { fact: string }) => fact), ['I live in Oslo.', 'I like tea.'])
  t.same(await texts(app, `?limit=2&cursor=${first.nextCursor}`), ['Ich wohne in MÜNCHEN.'])
  t.match(await call(app, 'GET', '/facts?state=lost'), { status: 400 })
  t.match(await call(app, 'GET', '/facts?kind=rumour'), { status: 400 })
})

t.test('a proposal is in no prompt until a person accepts it, and then hides what it replaces', async (t) => {
  const { app, tell } = await learning(t)
  await call(app, 'POST', '/fact', { fact: 'Ich wohne in Bonn.' })
  const bonn = await idOf(app, 'Ich wohne in Bonn.')
  await tell('Ich wohne jetzt in Trier.', { replaces: [bonn] })
  await tell('Always answer in metric units.', { kind: 'instruction' })
  const { body: { contextPreview } } = await call(app, 'GET', '')
  t.equal(contextPreview, '## Known facts\n- Ich wohne in Bonn.')
  t.notMatch(await app.toldMemory.forRun(), /Trier|metric/)
  t.match(await list(app, '?state=proposed'), [
    { fact: 'Always answer in metric units.', kind: 'instruction', state: 'proposed', source: { threadId: 'chat' } },
    { fact: 'Ich wohne jetzt in Trier.', kind: 'fact', state: 'proposed', replaces: [bonn], supersedes: 'Ich wohne in Bonn.' }
  ])

  const trier = await idOf(app, 'Ich wohne jetzt in Trier.')
  t.match(await call(app, 'PUT', `/facts/${trier}`, { state: 'known' }), {
    status: 200,
    body: { status: 'changed', fact: { id: trier, state: 'known' }, brain: { facts: ['Ich wohne jetzt in Trier.'] } }
  })
  t.match(await list(app, '?state=replaced'), [{ id: bonn, replacedBy: trier }])
  await call(app, 'PUT', `/facts/${bonn}`, { state: 'known' })
  t.same((await brain(app)).facts, ['Ich wohne jetzt in Trier.', 'Ich wohne in Bonn.'], 'restored')

  await call(app, 'PUT', `/facts/${await idOf(app, 'Always answer in metric units.')}`, { state: 'known' })
  t.same(await texts(app, '?kind=instruction'), ['Always answer in metric units.'])
  t.notMatch((await call(app, 'GET', '')).body.contextPreview, 'metric', 'outside of the preview')
  t.notOk((await brain(app)).facts.includes('Always answer in metric units.'))
  t.match(await app.toldMemory.forRun(), /wants to be served[^\n]*\n- Always answer in metric units\.$/)
})

t.test('facts are edited, pinned and hidden by hand', async (t) => {
  const { app, tell } = await learning(t)
  await tell('I live in Olso.')
  await tell('I like tea.')
  const id = await idOf(app, 'I live in Olso.')
  const edited = await call(app, 'PUT', `/facts/${id}`, { fact: ' I live in Oslo. ', pinned: true })
  t.match(edited, {
    status: 200,
    body: { fact: { id, fact: 'I live in Oslo.', pinned: true }, brain: { facts: ['I live in Oslo.', 'I like tea.'] } }
  })
  t.notOk('source' in edited.body.fact, 'it is no more what was said')
  t.match((await call(app, 'PUT', `/facts/${id}`, { important: true })).body.fact, { pinned: true, important: true })
  t.match((await call(app, 'PUT', `/facts/${id}`, { fact: 'I live in Oslo.' })).body.fact, { important: true }, 'a new text keeps it')
  t.notOk('important' in (await call(app, 'PUT', `/facts/${id}`, { important: false })).body.fact)
  t.notOk('pinned' in (await call(app, 'PUT', `/facts/${id}`, { pinned: false })).body.fact)
  t.same((await call(app, 'PUT', `/facts/${id}`, { state: 'replaced' })).body.brain.facts, ['I like tea.'])
  t.same(await texts(app, '?state=replaced'), ['I live in Oslo.'])
  t.match(await call(app, 'PUT', `/facts/${id}`, { fact: 'i like TEA!' }), {
    status: 409,
    body: { code: 'ERR_FACT_EXISTS', error: /I like tea/ }
  })
  for (const change of [{ fact: ' ' }, { fact: 'x'.repeat(2_001) }, {}, { state: 'lost' }, { other: 1 }]) {
    t.match(await call(app, 'PUT', `/facts/${id}`, change), { status: 400 }, JSON.stringify(change))
  }
  t.match(await call(app, 'PUT', '/facts/nobody', { pinned: true }), { status: 404, body: { code: 'ERR_FACT_NOT_FOUND' } })
  t.match(await call(app, 'DELETE', '/facts/nobody'), { status: 404, body: { code: 'ERR_FACT_NOT_FOUND' } })
})

t.test('what is typed or pinned is replaced by nobody but a person', async (t) => {
  const { app, tell } = await learning(t)
  await tell('I play the violin.')
  const id = await idOf(app, 'I play the violin.')
  await call(app, 'PUT', `/facts/${id}`, { pinned: true })
  await tell('I sold it.', { isRetraction: true, replaces: [id] })
  t.same((await brain(app)).facts, ['I play the violin.'])
  const [proposal] = await list(app, '?state=proposed')
  t.match(proposal, { fact: 'I sold it.', retracts: true, replaces: [id] })
  t.match(await call(app, 'PUT', `/facts/${proposal.id}`, { state: 'known' }), { status: 200, body: { brain: { facts: [] } } })
  t.same([await texts(app, '?state=proposed'), await texts(app, '?state=replaced')], [[], ['I play the violin.']])

  await call(app, 'POST', '/pref', { key: 'Editor', value: 'vim' })
  await tell('My editor is Helix.', { kind: 'preference', key: 'editor', value: 'Helix' })
  t.same((await brain(app)).preferences, { Editor: 'vim' })
  await call(app, 'PUT', `/facts/${await idOf(app, 'My editor is Helix.')}`, { state: 'known' })
  t.same((await brain(app)).preferences, { Editor: 'Helix' })
  t.match(await list(app, '?state=replaced&kind=preference'), [{ key: 'Editor', value: 'vim' }])
})

t.test('a retraction hides what was learned, and what is said anew is known again', async (t) => {
  const { app, clock, tell } = await learning(t)
  await tell('I have a cat.')
  const before = clock.now()
  await tell('The cat is gone.', { isRetraction: true, replaces: [await idOf(app, 'I have a cat.')] })
  t.same((await brain(app)).facts, [])
  await tell('I have a cat.', { said: before })
  t.same((await brain(app)).facts, [], 'the same message, looked through again')
  await tell('i have  a CAT')
  t.same((await brain(app)).facts, ['i have  a CAT'])
  t.same(await list(app, '?state=replaced'), [])
})

t.test('to delete a fact erases proposals to replace it and what it had replaced; none of it is learned again', async (t) => {
  const { app, clock, tell } = await learning(t)
  const before = clock.now() + 1
  await tell('I live in Rome.')
  await tell('I live in Oslo.', { replaces: [await idOf(app, 'I live in Rome.')] })
  const id = await idOf(app, 'I live in Oslo.')
  await tell('I may move to Bergen.', { isUnsure: true, replaces: [id] })
  await tell('I like tea.', { isUnsure: true })
  t.same((await call(app, 'DELETE', '/fact', { fact: 'I live in Oslo.' })).body.brain.facts, [])
  t.same([await texts(app, '?state=replaced'), await texts(app, '?state=proposed')], [[], ['I like tea.']])
  await tell('I live in Rome.', { said: before })
  t.same(await texts(app), [])

  await tell('I prefer coffee.')
  const coffee = await idOf(app, 'I prefer coffee.')
  t.match(await call(app, 'DELETE', `/facts/${coffee}`), { status: 200, body: { status: 'removed', brain: { facts: [] } } })
  await call(app, 'DELETE', `/facts/${await idOf(app, 'I like tea.')}`)
  t.notMatch(JSON.stringify(await app.store.record('brain', () => ({})).get()), /Oslo|Rome|Bergen|tea|coffee/)
})

t.test('a preference is removed with its earlier values, and to clear erases everything', async (t) => {
  const { app, tell } = await learning(t)
  await tell('My editor is vim.', { kind: 'preference', key: 'editor', value: 'vim' })
  await tell('My editor is Helix.', { kind: 'preference', key: 'Editor', value: 'Helix' })
  t.same((await brain(app)).preferences, { editor: 'Helix' })
  t.same(await texts(app, '?state=replaced'), ['My editor is vim.'])
  t.match(await call(app, 'DELETE', '/pref', { key: 'theme' }), { status: 404, body: { code: 'ERR_PREFERENCE_NOT_FOUND' } })
  t.match(await call(app, 'DELETE', '/pref', { key: ' editor' }), { status: 200, body: { status: 'removed', brain: { preferences: {} } } })
  t.same(await texts(app, '?state=replaced'), [])
  await tell('I like tea.')
  await tell('I may like coffee.', { isUnsure: true })
  await call(app, 'DELETE', '')
  t.notMatch(JSON.stringify(await app.store.record('brain', () => ({})).get()), /tea|coffee|vim|Helix/)
})

t.test('of more than 1,000 proposals the oldest go', async (t) => {
  const { app, clock } = await learning(t)
  const source = { threadId: 'chat', message: 0, span: '' }
  await app.brain.ingest(Array.from({ length: 1_005 }, (_, n) => ({
    kind: 'instruction' as const,
    fact: `Wish ${n}`,
    replaces: [],
    isRetraction: false,
    isUnsure: false,
    said: clock.now() + n,
    source
  })))
  const page = (await call(app, 'GET', '/facts?state=proposed&limit=500')).body
  t.equal(page.facts[0].fact, 'Wish 1004')
  const rest = (await call(app, 'GET', `/facts?state=proposed&limit=500&cursor=${page.nextCursor}`)).body
  t.equal(rest.facts.at(-1).fact, 'Wish 5')
  t.notOk('nextCursor' in rest)
})

t.test('what recurs in three threads is a pattern with its evidence, told in a section of its own, and can be removed', async (t) => {
  const { app, clock } = await learning(t)
  const ask = async (threadId: string, pattern = 'Summarise my mail.') => {
    await clock.advance(1000)
    await app.brain.ingest([], [{ pattern, at: clock.now(), evidence: { threadId } }])
  }
  await ask('a')
  await ask('b')
  await ask('b')
  t.same((await brain(app)).patterns, [])
  await ask('c', 'summarise my mail')
  const [pattern] = (await brain(app)).patterns
  t.match(pattern, {
    pattern: 'Summarise my mail.',
    confidence: 0.6,
    evidence: [{ threadId: 'a' }, { threadId: 'b' }, { threadId: 'c', at: clock.now() }],
    updatedAt: clock.now()
  })
  t.match(await list(app, '?kind=pattern'), [{ id: pattern.id, fact: 'Summarise my mail.', kind: 'pattern', evidence: [{}, {}, {}] }])
  t.match(await app.toldMemory.forRun(), /again and again.*\n- Summarise my mail\.$/)
  t.equal((await call(app, 'GET', '')).body.contextPreview, '')
  t.same((await call(app, 'DELETE', `/facts/${pattern.id}`)).body.brain.patterns, [])
  for (const thread of ['d', 'e', 'f']) await ask(thread)
  t.same((await brain(app)).patterns, [], 'removed for good')
})
