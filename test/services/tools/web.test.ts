import t, { type Test } from 'tap'
import type { Tool } from '../../../services/contracts/tool.ts'
import { createFetchUrl } from '../../../services/tools/web/fetch-url.ts'
import { createWebSearch } from '../../../services/tools/web/web-search.ts'
import { as, startSite } from '../../fakes/site.ts'
import { openSearch } from '../../suites/search.ts'
import { makePdf } from '../../harness/pdf.ts'
import { openWeb } from './web/helper.ts'
import { build, noBackground } from './helper.ts'

const over = (t: Test, tool: Tool) => build({ workspace: t.testdir(), tools: [tool] })

async function fetchUrl (t: Test, pages: Parameters<typeof startSite>[1]) {
  const site = await startSite(t, pages)
  const { web } = openWeb(t, { publicPorts: [site.port] })
  const { output, failure } = over(t, createFetchUrl({ background: noBackground(), web: async () => web }))
  return {
    site,
    fetched: (path: string, input: object = {}) => output('fetchUrl', { url: site.url + path, ...input }),
    failure: (input: object) => failure('fetchUrl', input)
  }
}

t.test('fetchUrl answers with where the page was, what it is and what it says', async (t) => {
  const { site, fetched } = await fetchUrl(t, { '/': '<title>Hello</title><p>Some words' })
  t.strictSame(await fetched('/#part'), {
    url: `${site.url}/`,
    status: 200,
    title: 'Hello',
    contentType: 'text/html',
    content: 'Some words',
    length: 10
  })
})

t.test('a long document is read part by part, with no character broken', async (t) => {
  const text = 'ab😀'.repeat(20_000)
  const { fetched } = await fetchUrl(t, { '/': as('text/plain; charset=utf-8', text) })
  const first = await fetched('/')
  t.match(first, { truncated: true, nextOffset: 20_000, length: 80_000 })
  t.equal(first.content, text.slice(0, 20_000))
  let read = ''
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part: any = await fetched('/', { offset, maxChars: 59_999 })
    t.ok(part.content.isWellFormed())
    read += part.content
    offset = part.nextOffset
  }
  t.equal(read, text)
  t.match(await fetched('/', { offset: 90_000 }), { content: '', length: 80_000, truncated: undefined })
})

t.test('the parts of a document in any script are small enough for a model to get them uncut', async (t) => {
  const text = Array.from({ length: 4_000 }, (_, n) => `${n} 漢字の文\n`).join('')
  const { fetched } = await fetchUrl(t, { '/': as('text/plain; charset=utf-8', text.repeat(2)) })
  const part = await fetched('/', { maxChars: 60_000 })
  t.ok(Buffer.byteLength(JSON.stringify(part)) < 64 * 1024)
  t.equal(part.content, text.repeat(2).slice(0, part.nextOffset))
  t.equal(part.content.at(-1), '\n', 'it ends with a line')
})

t.test('an error shows a part of its page, and says that it is none of what was asked for', async (t) => {
  const { fetched } = await fetchUrl(t, { '/': as('text/html', `<p>Too many requests. ${'Go away. '.repeat(1000)}`, { status: 429 }) })
  const { status, content, truncated, message } = await fetched('/')
  t.same([status, content.length, truncated], [429, 2000, true])
  t.match(message, /answered 429: this is what it says of that, not what was asked for/)
})

t.test('what is no text, or too much, is told in words', async (t) => {
  const { fetched } = await fetchUrl(t, {
    '/zip': as('application/zip', 'x'.repeat(1234), { headers: { 'content-length': '1234' } }),
    '/endless': as('text/plain', 'x'.repeat(6 * 1024 * 1024)),
    '/large': as('text/html', '<p>words</p>'.repeat(300_000))
  })
  t.match(await fetched('/zip'), {
    binary: true,
    size: 1234,
    content: '',
    message: 'This is application/zip of 1234 bytes; only text can be read.'
  })
  t.match(await fetched('/endless'), { truncated: true, length: 5 * 1024 * 1024, message: /longer than what can be read/ })
  t.match(await fetched('/large'), { message: /its bare text/ })
})

t.test('a PDF is read as text, by its type or by its bytes', async (t) => {
  const pdf = makePdf(['First page', 'Second page'], { title: 'A report' })
  const { fetched, failure, site } = await fetchUrl(t, {
    '/typed': as('application/pdf', pdf),
    '/vague': as('application/octet-stream', pdf),
    '/scan': as('application/pdf', makePdf([''])),
    '/broken': as('application/pdf', 'nonsense')
  })
  for (const path of ['/typed', '/vague']) {
    t.match(await fetched(path), { title: 'A report', pages: 2, content: 'First page\n\nSecond page', status: 200, binary: undefined })
  }
  t.match(await fetched('/scan'), { message: /no text in this PDF: its pages may be scanned/ })
  t.match(await failure({ url: `${site.url}/broken` }), /is a PDF that cannot be read/)
})

t.test('a page that is empty without its scripts is said to be so', async (t) => {
  const { fetched } = await fetchUrl(t, {
    '/app': '<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>' +
      '<script src="/main.js"></script>',
    '/shell': '<noscript>Enable JavaScript</noscript><p>Loading the best application of all</p><script>start()</script>',
    '/short': '<p>It works! This page has little to say and says it.</p><script src="/count.js"></script>',
    '/empty': '<p></p>'
  })
  for (const path of ['/app', '/shell']) t.match(await fetched(path), { message: /unless its scripts run, which is not done here/ }, path)
  for (const path of ['/short', '/empty']) t.notOk((await fetched(path)).message, path)
})

t.test('a failure is told to the model', async (t) => {
  const { failure, site } = await fetchUrl(t, {})
  t.match(await failure({ url: 'http://10.0.0.1/' }), /not on the public internet/)
  t.match(await failure({ url: site.url.replace('http', 'https') }), /cannot be read/)
  for (
    const input of [{}, { url: 7 }, { url: '' }, { url: site.url, offset: -1 }, { url: site.url, maxChars: 1e6 }, {
      url: site.url,
      headers: {}
    }]
  ) t.match(await failure(input), /url|offset|maxChars|headers/)
  t.same(site.requests, [])
})

t.test('webSearch answers with results, eight unless asked for more', async (t) => {
  const results = Array.from({ length: 30 }, (_, n) => ({ title: `Result ${n}`, url: `https://example.com/${n}`, snippet: 'words' }))
  const { fake, search } = await openSearch(t, 'searxng', () => ({ results }))
  const { output, failure } = over(t, createWebSearch({ search: async () => ({ search }) }))
  const found = await output('webSearch', { query: '  local first ' })
  t.strictSame(found.results, results.slice(0, 8))
  t.same(fake.queries, ['local first'])
  t.equal((await output('webSearch', { query: 'x', maxResults: 20 })).results.length, 20)
  for (
    const input of [{}, { query: '' }, { query: '   ' }, { query: 'x'.repeat(401) }, { query: 'x', maxResults: 0 }, {
      query: 'x',
      maxResults: 21
    }]
  ) t.match(await failure('webSearch', input), /query|maxResults/)
})
