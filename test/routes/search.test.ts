import t from 'tap'
import type { App } from '../../app.ts'
import { SEARCH_PLACES, SEARCH_WORDS } from '../../services/store/keys.ts'
import { createSearchIndexing } from '../../services/threads/search/indexing.ts'
import { fakeClock } from '../harness/clock.ts'
import { sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const { signal } = new AbortController()
const indexOf = (app: App) => createSearchIndexing({ store: app.store, clock: app.clock, log: app.log })
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
const keysOf = async (app: App) => {
  const keys: string[] = []
  for (const prefix of [SEARCH_WORDS, SEARCH_PLACES]) for await (const key of app.store.keys(prefix)) keys.push(key)
  return keys
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
  await indexOf(app).catchUp(signal)
  t.equal((await keysOf(app)).length, 4)
  await t.test('with it', check)
  t.notMatch((await keysOf(app)).join(), /harbour|cafe/, 'no word is in a key')

  const [, answer, question] = await search(app, 'harbour')
  t.match(answer, { threadId: 'tokyo', title: /^Living/, role: 'assistant', time: clock.now(), snippet: { text: /near the/ } })
  const ui = (await app.inject('/threads/harbour?protocol=ui')).json().messages
  t.match(question, { messageId: ui[0].id, position: 0, role: 'user', time: clock.now() - 1_000, title: /^Where is/ })
  t.equal((await search(app, 'zoe'))[0].messageId, ui[1].id)
  t.match((await search(app, 'zoe'))[0].snippet.text, /^…[^]*Zoë in the lighthouse, Hauptstraße\.$/)
  t.match((await app.inject('/search?q=%2B%2B')).json(), { statusCode: 400, error: /names no word/ })
})

t.test('what changes is found at once, what is removed no more, and its words go', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'The answer is marzipan.' }))
  const long = Array.from({ length: 600 }, (_, n) => user(`message number${n}`))
  await put(app, 'long', long)
  const indexing = indexOf(app)
  await indexing.catchUp(signal)
  t.equal((await keysOf(app)).length, 6, 'three blocks')
  const positions = [429, 428, 427, 426, 425, 424, 423, 422, 421, 420, 42]
  t.same(await found(app, 'number42'), positions.map((n) => [`long ${n}`, `number${n}`]))

  await sayAll(app, [user('What is it?')], { id: 'long' })
  t.same(await found(app, 'marzipan'), [['long 601', 'marzipan']], 'before it is indexed')
  const messageId = (await app.inject('/threads/long?protocol=ui')).json().messages.at(-1).id
  t.equal((await search(app, 'marzipan'))[0].messageId, messageId)
  await indexing.indexChanged(signal)
  t.same(await found(app, 'marzipan'), [['long 601', 'marzipan']])

  await put(app, 'long', [...long.slice(0, 300), user('replaced')])
  t.same([await found(app, 'marzipan'), await found(app, 'number420')], [[], []])
  t.same(await found(app, 'replac'), [['long 300', 'replaced']])
  t.equal((await keysOf(app)).length, 4, 'the index of removed messages is removed with them')

  // A thread that is deleted while it is indexed leaves nothing.
  await put(app, 'gone', [user('vanishing')])
  const { transact } = app.store
  app.store.transact = async (ops) => {
    app.store.transact = transact
    await app.inject({ method: 'DELETE', url: '/threads/gone' })
    return transact(ops)
  }
  await indexing.indexChanged(signal)
  t.same(await found(app, 'vanishing'), [])
  await app.inject({ method: 'DELETE', url: '/threads/long' })
  t.same(await keysOf(app), [], 'nothing of deleted threads is left')

  await app.store.transact([{ type: 'put', key: `${SEARCH_WORDS}${'0'.repeat(64)}/0000000000`, value: { of: 1, words: ' left ' } }])
  await indexing.catchUp(signal)
  t.same(await keysOf(app), [], 'nor what a crash left')
})

t.test('the index follows changes in the background, a second later', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const stop = new AbortController()
  const running = indexOf(app).run(stop.signal)
  const written = async (count: number) => {
    await clock.sleeper(1_000)
    await clock.advance(1_000)
    for (let turns = 0; turns < 10_000 && (await keysOf(app)).length < count; turns++) await new Promise(setImmediate)
    return (await keysOf(app)).length
  }
  await put(app, 'a', [user('first')])
  t.equal(await written(2), 2)
  await put(app, 'b', [user('second')])
  t.equal(await written(4), 4)
  stop.abort()
  await running
})
