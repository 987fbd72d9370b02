import { once } from 'node:events'
import type { Test } from 'tap'
import { Aborted } from '../../services/lib/abort.ts'
import { systemClock, type Clock } from '../../services/lib/clock.ts'
import type { SearchSettings } from '../../services/tools/web/search/search-backends.ts'
import { createSearch } from '../../services/tools/web/search/search.ts'
import { createTransform } from '../../services/tools/transform/transform.ts'
import { fakeClock } from '../harness/clock.ts'
import { startFakeSearch, type SearchPlan } from '../fakes/search.ts'

const never = new AbortController().signal

/** A search over a fake service, as the user would configure it. */
export async function openSearch (
  t: Test,
  provider: SearchSettings['provider'],
  plan?: (query: string) => SearchPlan | undefined,
  { clock = systemClock, settings }: { clock?: Clock, settings?: Partial<SearchSettings> } = {}
) {
  const fake = await startFakeSearch(t, provider, plan)
  const transform = createTransform({ clock })
  t.teardown(transform.close)
  const configured: SearchSettings = { provider, baseURL: fake.url, apiKey: fake.key, ...settings }
  const search = createSearch({ settings: () => configured, variables: { SEARCH_KEY: fake.key }, transform, clock })
  return {
    fake,
    search: (query: string, count = 8, signal = never) => search.search(query, count, signal),
    async failure (query: string): Promise<string> {
      const answer = await search.search(query, 8, never).catch((error: Error) => error)
      if (!(answer instanceof Error)) throw new Error(`found ${JSON.stringify(answer).slice(0, 500)}`)
      return answer.message
    }
  }
}

/** What every search service gives and is kept from, whatever it speaks. */
export function searchSuite (t: Test, provider: SearchSettings['provider'], title: string) {
  const found = { title: 'A title', url: 'https://example.com/a?b=c&d=e#f', snippet: 'What it says.' }

  t.test(`${provider}: results have a title, an address and an extract`, async (t) => {
    const { fake, search } = await openSearch(
      t,
      provider,
      () => ({ results: [found, { ...found, title: 'Another', url: 'http://example.org/ü' }] })
    )
    t.same(await search('what & where?'), [found, { ...found, title: 'Another', url: 'http://example.org/%C3%BC' }])
    t.same(fake.queries, ['what & where?'])
  })

  t.test(`${provider}: nothing found is an empty list`, async (t) => {
    t.same(await (await openSearch(t, provider)).search('nothing'), [])
  })

  t.test(`${provider}: no more results than asked for, each address once`, async (t) => {
    const results = Array.from({ length: 50 }, (_, n) => ({ ...found, url: `https://example.com/${n >> 1}` }))
    const { search } = await openSearch(t, provider, () => ({ results }))
    t.same((await search('x', 3)).map(({ url }) => url), [0, 1, 2].map((n) => `https://example.com/${n}`))
    t.equal((await search('x', 20)).length, 20)
  })

  t.test(`${provider}: hostile results are made harmless`, async (t) => {
    const { search } = await openSearch(t, provider, () => ({
      results: [
        ...[
          'javascript:alert(1)',
          'data:text/html,x',
          'file:///etc/passwd',
          'not an address',
          '',
          `https://example.com/${'a'.repeat(5000)}`
        ].map((url) => ({ ...found, url })),
        {
          title: '<b>Bold</b> &amp; <script>evil()</script>clean',
          url: 'https://user:secret@example.com/1',
          snippet: 'one<br>two &lt;three&gt;\n\n four'
        },
        { title: '', url: 'https://example.com/2', snippet: '' },
        { title: 'x'.repeat(100_000), url: 'https://example.com/3', snippet: 'y'.repeat(100_000) }
      ]
    }))
    const [first, second, third, ...rest] = await search('x')
    t.same(first, { title: 'Bold & clean', url: 'https://example.com/1', snippet: 'one two <three> four' })
    t.same(second, { title: 'example.com', url: 'https://example.com/2', snippet: '' })
    t.same([third.title.length, third.snippet.length], [300, 600])
    t.same(rest, [])
  })

  t.test(`${provider}: a refusal says what to do, and repeats nothing of the answer`, async (t) => {
    const { failure, fake } = await openSearch(
      t,
      provider,
      (query) => ({ status: Number(query), headers: { 'retry-after': '7', location: 'https://elsewhere.test/' } })
    )
    for (const status of [302, 400, 401, 402, 403, 404, 429, 432, 500, 503]) {
      const message = await failure(String(status))
      t.ok(message.startsWith(title), message)
      t.match(message, /[Tt]ry again|config\.json|settings\.yml|no credit|Raise the limit/, String(status))
      if (fake.key) t.notMatch(message, fake.key)
    }
    t.match(await failure('302'), /points elsewhere \(302\)/)
    if (provider !== 'duckduckgo') t.match(await failure('429'), `${title} is asked too often. Wait 7 s and try again.`)
  })

  t.test(`${provider}: an answer that cannot be read is one`, async (t) => {
    const bodies: Record<string, string> = {
      empty: '',
      text: 'hello',
      json: '{}',
      list: '[]',
      null: 'null',
      cut: '{"results": [{"title"',
      wrong: '{"results": {"a": 1}, "web": {"results": 7}}',
      page: '<html><body><p>Hello</p>'
    }
    const { failure } = await openSearch(t, provider, (query) => ({ body: bodies[query] }))
    for (const query of Object.keys(bodies)) t.match(await failure(query), /no list of results/, query)
  })

  t.test(`${provider}: odd entries in a list are passed over, an endless list is cut`, async (t) => {
    const { search, failure } = await openSearch(
      t,
      provider,
      (query) => query === 'long' ? { body: '['.repeat(3 * 1024 * 1024) } : { results: Array(5_000).fill(found) }
    )
    t.equal((await search('many')).length, 1)
    t.match(await failure('long'), /no list of results/)
  })

  t.test(`${provider}: who does not answer is left after fifteen seconds, and at once when the run ends`, async (t) => {
    const clock = fakeClock()
    const { fake, search, failure } = await openSearch(t, provider, () => ({ silent: true }), { clock })
    let asked = once(fake.server, 'request')
    const late = failure('slow')
    await asked
    await clock.advance(15_000)
    t.match(await late, /did not answer within 15 s/)
    await fake.quiet()

    asked = once(fake.server, 'request')
    const stop = new AbortController()
    const stopped = search('slow', 8, stop.signal).catch((error) => error)
    await asked
    stop.abort(new Aborted('stop'))
    t.equal(await stopped, stop.signal.reason)
    await fake.quiet()
  })

  t.test(`${provider}: a service that is not there is said to be so`, async (t) => {
    const { failure } = await openSearch(t, provider, undefined, { settings: { baseURL: 'http://127.0.0.1:9' } })
    t.match(await failure('x'), /cannot be asked: nothing answers there/)
  })
}
