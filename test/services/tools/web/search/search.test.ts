import t from 'tap'
import { openSearch, searchSuite } from '../../../../suites/search.ts'

searchSuite(t, 'tavily', 'Tavily')
searchSuite(t, 'brave', 'Brave')
searchSuite(t, 'searxng', 'SearXNG')
searchSuite(t, 'duckduckgo', 'DuckDuckGo')

for (const provider of ['tavily', 'brave'] as const) {
  t.test(`${provider}: a key is needed, and may come from the environment`, async (t) => {
    const results = [{ title: 'A', url: 'https://example.com/', snippet: '' }]
    const withKey = async (apiKey: string | undefined) => openSearch(t, provider, () => ({ results }), { settings: { apiKey } })
    t.same(await (await withKey(['$', '{SEARCH_KEY}'].join(''))).search('x'), results)
    t.match(await (await withKey(undefined)).failure('x'), /needs a key: set "apiKey" in config\.json under "search"/)
    t.match(await (await withKey(['$', '{NOT_SET}'].join(''))).failure('x'), /environment variable NOT_SET, which is not set/)
    t.match(await (await withKey('wrong')).failure('x'), /refuses the key/)
    t.match(await (await withKey('of\nlines')).failure('x'), /holds characters that no key/)
  })
}

t.test('searxng: without an address it is asked for; the one given may have a path', async (t) => {
  t.match(
    await (await openSearch(t, 'searxng', undefined, { settings: { baseURL: undefined } })).failure('x'),
    /set "baseURL" in config\.json/
  )
  const { fake } = await openSearch(t, 'searxng')
  const below = await openSearch(t, 'searxng', undefined, { settings: { baseURL: `${fake.url}/below/` } })
  t.match(await below.failure('x'), /answered 404/)
  t.equal(fake.requests[0].path, '/below/search?q=x&format=json')
})

t.test('duckduckgo: a page that asks for a human is a refusal, whatever its status', async (t) => {
  const page =
    '<html><body><form id="challenge-form"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form>'
  const { failure } = await openSearch(t, 'duckduckgo', (query) => ({ body: page, status: Number(query) }))
  for (const status of ['200', '202', '403']) {
    t.match(await failure(status), /refuses automatic searches at the moment\. Try again later, or set "search" in config\.json/, status)
  }
})

t.test('duckduckgo: links are taken out of its redirections; what stays there is none of ours', async (t) => {
  const link = (href: string, title: string) => `<div class="result"><a class="result__a" href="${href}">${title}</a></div>`
  const { search } = await openSearch(t, 'duckduckgo', () => ({
    body: link('https://plain.test/', 'plain') + link('/l/?uddg=https%3A%2F%2Fwrapped.test%2F%3Fa%3D1%26b&amp;rut=1', 'wrapped') +
      link('//duckduckgo.com/l/?uddg=javascript%3Aalert(1)', 'trap') +
      link('//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js', 'ad') + link('/settings', 'own') +
      link('//duckduckgo.com/l/', 'empty')
  }))
  t.same((await search('x')).map(({ url, title }) => [title, url]), [['plain', 'https://plain.test/'], [
    'wrapped',
    'https://wrapped.test/?a=1&b'
  ]])
})
