import { getEventListeners, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { SEARCH_BLOCKS, SEARCH_BUILT, SEARCH_DUE, SEARCH_SHARDS } from '../../services/store/keys.ts'
import { createSearchIndexing } from '../../services/threads/search/indexing.ts'
import { startFakeSearch } from '../fakes/search.ts'
import { startSite } from '../fakes/site.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { damage } from '../services/store/rewrite.ts'

const KEY = 'fake-search-key-123'
const text = (events: any[]) => of(events, 'text-delta').map(({ content }) => content).join('')

async function service (t: Test, config: object = {}) {
  const app = await build(t, { config: { analysis: false, ...config } })
  return {
    app,
    async reload (config: object) {
      writeFileSync(`${app.home}/config.json`, JSON.stringify({ analysis: false, ...config }))
      return app.inject({ method: 'POST', url: '/config/reload' })
    }
  }
}

t.test('a page is fetched without asking; pages on this machine once the user allows it', async (t) => {
  const site = await startSite(t, { '/': '<title>My page</title><p>Written for a test.' })
  const { app, reload } = await service(t)
  t.match(
    text((await say(app, `fetch ${site.url}/`)).events),
    /I could not fetch .*not on the public internet \(loopback address\).*"allowPrivate": true/
  )
  t.same(site.requests, [])
  t.equal((await reload({ fetch: { allowPrivate: true } })).statusCode, 200)
  const { events } = await say(app, `fetch ${site.url}/`)
  t.match(of(events, 'tool-output-available')[0].output, { status: 200, title: 'My page', content: 'Written for a test.' })
  t.equal(app.transform.running, true)
  t.match(text(events), `${site.url}/ answered 200: My page.\n\n\`\`\`\nWritten for a test.\n\`\`\``)
  await reload({})
  t.match(text((await say(app, `fetch ${site.url}/`)).events), /I could not fetch/)
  await app.close()
  t.equal(app.transform.running, false, 'the thread ends with the service')
})

t.test('the service never calls itself, by whatever name of this machine', async (t) => {
  const { app } = await service(t, { fetch: { allowPrivate: true } })
  const port = await listen(app)
  for (const host of ['127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]', '0.0.0.0']) {
    t.match(
      text((await say(app, `fetch http://${host}:${port}/health`)).events),
      /is this service itself, which its own tools may not call/,
      host
    )
  }
})

t.test('the web is searched with what config.json names, from one search to the next', async (t) => {
  const [first, second] = await Promise.all(
    (['brave', 'searxng'] as const).map((name) =>
      startFakeSearch(t, name, () => ({ results: [{ title: `Found by ${name}`, url: 'https://example.com/', snippet: 'Words.' }] }))
    )
  )
  const { app, reload } = await service(t, { search: { provider: 'brave', baseURL: first.url, apiKey: KEY } })
  t.match(
    text((await say(app, 'search for local-first software')).events),
    'The web search for “local-first software” found:\n1. Found by brave (https://example.com/): Words.'
  )
  t.same(first.queries, ['local-first software'])
  await reload({ search: { provider: 'searxng', baseURL: second.url } })
  t.match(text((await say(app, 'search for cats')).events), /Found by searxng/)
  t.match((await reload({ search: { provider: 'altavista' } })).json(), { statusCode: 400, error: /"search.provider" must be .*searxng/ })
})

t.test('a key for searching is shown in no answer and reaches no command', async (t) => {
  process.env.TEST_SEARCH_KEY = 'walnut-search-key-canary'
  t.teardown(() => {
    delete process.env.TEST_SEARCH_KEY
  })
  const { app, reload } = await service(t)
  for (const apiKey of ['walnut-search-key-canary', ['$', '{TEST_SEARCH_KEY}'].join('')]) {
    await reload({ search: { provider: 'tavily', apiKey, baseURL: 'http://127.0.0.1:9' } })
    t.match(app.config.current.search, { apiKey })
    t.notMatch((await app.inject('/config')).body, 'walnut')
    const question = await say(app, 'run `env`')
    const { events } = await answer(app, { [asked(question.events)[0]]: true })
    t.match(JSON.stringify(events), /PATH=/)
    t.notMatch(JSON.stringify(events), 'walnut')
    t.notMatch(JSON.stringify((await say(app, 'search for x')).events), 'walnut')
  }
})

t.test('while a hostile page is read others are answered; the page is dropped when its client leaves', async (t) => {
  const site = await startSite(t, { '/': `<p>start${'<b><i>'.repeat(50_000)}`, '/silent': () => {} })
  const { app } = await service(t, { fetch: { allowPrivate: true } })
  const base = `http://127.0.0.1:${await listen(app)}`
  const begin = (path: string) => {
    const client = new AbortController()
    const run = fetch(`${base}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      signal: client.signal,
      body: JSON.stringify({ messages: [{ role: 'user', content: `fetch ${site.url}${path}` }] })
    }).then((response) => response.text()).then(() => 'over', () => 'left')
    return { run, leave: () => client.abort() }
  }

  const hostile = begin('/')
  while (!app.transform.running) await turn()
  for (let n = 0; n < 50; n++) t.equal((await fetch(`${base}/health`)).status, 200)
  t.equal(await Promise.race([hostile.run, 'still being read']), 'still being read')
  hostile.leave()
  t.equal(await hostile.run, 'left')
  while (app.transform.running) await turn()

  const reached = once(site.server, 'request')
  const silent = begin('/silent')
  await reached
  silent.leave()
  await silent.run
  await site.quiet()
})

const { signal } = new AbortController()
const indexOf = (app: App, { writeOps }: { writeOps?: number } = {}) =>
  createSearchIndexing({ store: app.store, clock: app.clock, readAnswer: app.answers.read, log: app.log, writeOps })
const put = (app: App, id: string, messages: object[], rest: object = {}) =>
  app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages, ...rest } })
const user = (content: string) => ({ role: 'user', content })
const bot = (content: string) => ({ role: 'assistant', content })

async function search (app: App, q: string, { limit = 20 } = {}) {
  const results: any[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ q, limit: String(limit), ...cursor !== undefined && { cursor } })
    const { results: page, nextCursor } = (await app.inject(`/search?${query}`)).json()
    results.push(...page)
    cursor = nextCursor
  } while (cursor !== undefined)
  return results
}
/** Where something is found, and what is marked there. */
const found = async (app: App, q: string, options = {}) =>
  (await search(app, q, options)).map(({ threadId, position, snippet: { text, matches } }) =>
    [`${threadId} ${position ?? 'title'}`, ...matches.map(({ start, end }: any) => text.slice(start, end))])
const keysOf = async (app: App, prefixes = [SEARCH_BLOCKS, SEARCH_SHARDS]) => {
  const keys: string[] = []
  for (const prefix of prefixes) for await (const key of app.store.keys(prefix)) keys.push(key)
  return keys
}
/** All words of the index, in the order of the alphabet. */
async function indexedWords (app: App) {
  const words = new Set<string>()
  for await (const [, segment] of app.store.list<string>(SEARCH_SHARDS)) {
    for (const [, word] of segment.matchAll(/;([^;:]+):/g)) words.add(word)
  }
  return [...words].sort()
}

t.test('words are found in all texts of all threads, the newest first, with their place, with and without an index', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  await put(app, 'harbour', [
    user('Where is the Café Müller at the harbour?'),
    bot('The café is at the old pier. '.repeat(20) + 'Ask for Zoë in the lighthouse, Hauptstraße.'),
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'x', input: { secretword: 1 } }] },
    { id: 'm3', role: 'user', parts: [{ type: 'text', text: 'old' }, { type: 'text', text: 'lighthouse, then?' }] }
  ])
  await clock.advance(1_000)
  await put(app, 'tokyo', [user('東京都に住んでいます。港の近くです。'), bot('That is near the harbours.')], { title: 'Living near a harbour' })
  const check = async (t: any) => {
    t.same(await found(app, 'HARBOUR'), [['tokyo title', 'harbour'], ['tokyo 1', 'harbours'], ['harbour 0', 'harbour']])
    t.same(await found(app, 'cafe muller'), [['harbour 0', 'Café', 'Müller']], 'accents and case do not count')
    t.same(await found(app, 'the lightho'), [['harbour 1', 'The', 'the', 'the', 'lighthouse']], 'all words, the last as a beginning')
    t.same(await found(app, 'harbou the'), [], 'other words are whole')
    t.same((await found(app, '"old pier"'))[0].slice(0, 2), ['harbour 1', 'old pier'])
    t.same(await found(app, '"pier old"'), [])
    t.same(await found(app, '"old lighthouse" th'), [['harbour 3', 'old  lighthouse', 'then']])
    t.same(await found(app, '東京'), [['tokyo 0', '東京']], 'words of scripts without blanks')
    t.same(await found(app, 'secretword'), [])
    t.same(await found(app, 'zoe'), [['harbour 1', 'Zoë']])
    for (const q of ['hauptstrasse', 'HAUPTSTRASSE', 'Hauptstraße', 'hauptstras']) {
      t.same(await found(app, q), [['harbour 1', 'Hauptstraße']], q)
    }
    t.same((await found(app, 'harbour', { limit: 1 })).length, 3, 'page by page')
  }
  await t.test('without an index', check)
  await indexOf(app).takeInDue(signal)
  t.same(await keysOf(app, [SEARCH_DUE]), [])
  await t.test('with it', check)
  // Words that no digest can hold by chance.
  t.notMatch((await keysOf(app)).join(), /harbour|muller|lighthouse/, 'no word is in a key')

  const [, answer, question] = await search(app, 'harbour')
  t.match(answer, { threadId: 'tokyo', title: /^Living/, role: 'assistant', time: clock.now(), snippet: { text: /near the/ } })
  const ui = (await app.inject('/threads/harbour?protocol=ui')).json().messages
  t.match(question, { messageId: ui[0].id, position: 0, role: 'user', time: clock.now() - 1_000, title: /^Where is/ })
  t.equal((await search(app, 'zoe'))[0].messageId, ui[1].id)
  t.match((await search(app, 'zoe'))[0].snippet.text, /^…[^]*Zoë in the lighthouse, Hauptstraße\.$/)
  t.match((await app.inject('/search?q=%2B%2B')).json(), { statusCode: 400, error: /holds no word/ })
})

t.test('what changes is found at once, what is removed no more, and its words go', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'The answer is marzipan.' }))
  const long = Array.from({ length: 600 }, (_, n) => user(`message number${n}`))
  await put(app, 'long', long)
  const indexing = indexOf(app)
  await indexing.takeInDue(signal)
  const positions = [429, 428, 427, 426, 425, 424, 423, 422, 421, 420, 42]
  t.same(await found(app, 'number42'), positions.map((n) => [`long ${n}`, `number${n}`]))

  await sayAll(app, [user('What is it?')], { id: 'long' })
  t.same(await found(app, 'marzipan'), [['long 601', 'marzipan']], 'before it is indexed')
  const messageId = (await app.inject('/threads/long?protocol=ui')).json().messages.at(-1).id
  t.equal((await search(app, 'marzipan'))[0].messageId, messageId)
  await indexing.takeInDue(signal)
  t.same(await found(app, 'marzipan'), [['long 601', 'marzipan']])

  await put(app, 'long', [...long.slice(0, 300), user('replaced')], { title: 'Tangerine' })
  const check = async () => {
    t.same([await found(app, 'marzipan'), await found(app, 'number420')], [[], []])
    t.same(await found(app, 'replac'), [['long 300', 'replaced']])
    t.same(await found(app, 'tangerine'), [['long title', 'Tangerine']])
  }
  await check()
  await indexing.takeInDue(signal)
  await check()
  t.same((await indexedWords(app)).filter((word) => !word.startsWith('number')), ['message', 'replaced', 'tangerine'])
  t.equal((await indexedWords(app)).length, 303)
  await put(app, 'long', long.slice(0, 2), { title: 'Clementine' })
  await indexing.takeInDue(signal)
  t.same(await indexedWords(app), ['clementine', 'message', 'number0', 'number1'])

  // A thread that is deleted while it is indexed leaves nothing.
  await put(app, 'gone', [user('vanishing')])
  const { transact } = app.store
  app.store.transact = async (ops) => {
    app.store.transact = transact
    await app.inject({ method: 'DELETE', url: '/threads/gone' })
    return transact(ops)
  }
  await indexing.takeInDue(signal)
  t.same(await found(app, 'vanishing'), [])
  await indexing.takeInDue(signal)
  t.notOk((await indexedWords(app)).includes('vanishing'))
  await app.inject({ method: 'DELETE', url: '/threads' })
  await indexing.takeInDue(signal)
  t.same(await keysOf(app, [SEARCH_BLOCKS, SEARCH_SHARDS, SEARCH_DUE]), [], 'nothing of deleted threads is left')
})

t.test('what is said and removed in any order is found as in the texts, after a kill at any write of the index', async (t) => {
  const app = await build(t)
  const { transact } = app.store
  let seed = 7
  const random = (below: number) => (seed = Math.imul(seed, 1_103_515_245) + 12_345 >>> 1) % below
  const words = Array.from({ length: 60 }, (_, n) => `${'abc'[n % 3]}${'xyz'[n % 7 % 3]}${n}`)
  const sentence = () => Array.from({ length: 1 + random(6) }, () => words[random(words.length)]).join(' ')
  const threads = new Map<string, string[]>()
  let kills = 0
  for (let round = 0; round < 40; round++) {
    for (let n = random(4); n >= 0; n--) {
      const id = `t${random(6)}`
      if (random(5) === 0 && threads.delete(id)) await app.inject({ method: 'DELETE', url: `/threads/${id}` })
      else {
        const texts = (threads.get(id) ?? []).slice(0, random(40))
        for (let more = random(24); more >= 0; more--) texts.push(sentence())
        threads.set(id, texts)
        await put(app, id, texts.map(user))
      }
    }
    const left = random(9)
    let writes = 0
    app.store.transact = async (ops) => {
      if (writes++ === left) throw new Error('killed')
      await transact(ops)
    }
    await indexOf(app, { writeOps: 5 }).takeInDue(signal).catch(({ message }) => t.equal(message, 'killed', `${++kills}`))
    app.store.transact = transact
    const word = words[random(words.length)].slice(0, 1 + random(3))
    const expected = [...threads].flatMap(([id, texts]) =>
      texts.flatMap((text, n) => ` ${text}`.includes(` ${word}`) ? [`${id} ${n}`] : []))
    t.same((await found(app, word)).map(([place]) => place).sort(), expected.sort(), word)
  }
  t.ok(kills > 3)
  await indexOf(app).takeInDue(signal)
  t.same(await indexedWords(app), [...new Set([...threads.values()].flat().flatMap((text) => text.split(' ')))].sort())
})

t.test('an index that is missing or damaged is made again, and until then everything is found', async (t) => {
  const before = await build(t)
  await put(before, 'a', [user('lighthouse')])
  await indexOf(before).takeInDue(signal)
  const [segment] = await keysOf(before, [SEARCH_SHARDS])
  await before.close()
  await damage(before.home, [segment])
  const app = await build(t, { home: before.home, cwd: before.cwd })
  t.same(await found(app, 'lighthouse'), [['a 0', 'lighthouse']])
  t.same(await keysOf(app, [SEARCH_BUILT]), [])
  t.same(await found(app, 'lighthouse'), [['a 0', 'lighthouse']])
  await indexOf(app).takeInDue(signal)
  t.same(await indexedWords(app), ['lighthouse'])
  t.same(await found(app, 'lighthouse'), [['a 0', 'lighthouse']])
})

t.test('many threads are indexed together in the background, and what is removed leaves soon', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const stop = new AbortController()
  await put(app, 'before the start', [user('early')])
  const running = indexOf(app).run(stop.signal)
  const untilIndexed = async (afterMs: number) => {
    if (afterMs > 0) await clock.sleeper(afterMs)
    await clock.advance(afterMs)
    for (let turns = 0; turns < 10_000 && (await keysOf(app, [SEARCH_DUE])).length > 0; turns++) await new Promise(setImmediate)
    t.same(await keysOf(app, [SEARCH_DUE]), [])
  }
  const waiting = () => getEventListeners(stop.signal, 'abort').length
  await untilIndexed(0)
  const begun = waiting()
  for (let n = 0; n < 32; n++) {
    t.notOk((await indexedWords(app)).includes('said'))
    await put(app, `t${n}`, [user(`said ${n}`)])
  }
  await untilIndexed(1_000)
  t.ok((await indexedWords(app)).includes('said'))
  await app.inject({ method: 'DELETE', url: '/threads/t7' })
  await untilIndexed(1_000)
  t.notOk((await indexedWords(app)).includes('7'))
  t.equal(waiting(), begun, 'no change leaves a listener behind')
  stop.abort()
  await running
})
