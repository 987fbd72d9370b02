import t from 'tap'
import { brain, call, idOf, learning, list, texts } from '../harness/brain.ts'

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
