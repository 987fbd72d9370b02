import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { startFakeSearch } from '../fakes/search.ts'
import { startSite } from '../fakes/site.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'

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
