import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import t, { type Test } from 'tap'
import { noBrowser, openBrowser, watch } from '../harness/browser.ts'
import { until } from '../harness/exercise.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { type Writer, writers } from './thread-writers.ts'

const HTML = '<!doctype html><title>A chat</title><link rel="icon" href="data:,"><div id="root"></div>' +
  '<script type="module" src="/page.js"></script>'
const PAGE = `
  import { createRoot } from 'react-dom/client'
  import { ChatPage } from './react-chat.tsx'
  const query = new URLSearchParams(location.search)
  const service = { url: query.get('service'), ...query.get('token') && { token: query.get('token') } }
  createRoot(document.getElementById('root')).render(<ChatPage id={query.get('id')} service={service} />)
`

/** Serves a page with the chat of the example, and returns its origin. */
async function serveExample (t: Test): Promise<string> {
  const { outputFiles: [{ text: script }] } = await bundle({
    stdin: { contents: PAGE, loader: 'tsx', resolveDir: fileURLToPath(new URL('../../examples', import.meta.url)) },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false
  })
  const site = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' }).end(isScript ? script : HTML)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => {
    site.closeAllConnections()
    site.close()
  })
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}

t.test('examples/react-chat.tsx has the whole conversation after a reload, also while it is answered', { skip: noBrowser }, async (t) => {
  const origin = await serveExample(t)
  const words = Array.from({ length: 60 }, (_, n) => `word${n} `)
  const questions = [{ id: 'size', text: 'Which size?', options: [{ value: 's', label: 'Small' }, { value: 'l', label: 'Large' }] }]
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [
      { text: 'Writing. ', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } }] },
      { text: words, partMs: 25 },
      { text: words, partMs: 50, toolCalls: [{ toolName: 'askUser', input: { questions } }] },
      { text: 'A large one.' },
      { toolCalls: [{ toolName: 'setTitle', input: { title: 'Lamps' } }] },
      { text: 'It is named.' }
    ][nth], { config: { allowedOrigins: [origin] }, token: 'the-token' })
  const page = await (await openBrowser(t)).newPage()
  const { complaints } = watch(page)
  const articles = page.locator('article')
  const say = async (text: string) => {
    await page.fill('[name=message]', text)
    await page.click('text=Send')
  }

  const service = `http://127.0.0.1:${await listen(app)}`
  const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' }
  const stored = [
    { role: 'user', content: 'Said by curl.' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'systemInfo', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'systemInfo', output: { type: 'json', value: {} } }] },
    { role: 'assistant', content: 'Told to curl.' }
  ]
  await fetch(`${service}/threads/a chat`, { method: 'PUT', headers, body: JSON.stringify({ messages: stored }) })
  await page.goto(`${origin}/?service=${service}&token=the-token&id=a chat`)
  await articles.nth(1).filter({ hasText: 'Told to curl.' }).waitFor()
  t.same(await articles.allTextContents(), ['Said by curl.', 'systemInfo: output-availableTold to curl.'])
  await say('write it')
  await page.getByText('May it use writeFile?').waitFor()
  await page.reload()
  await page.click('text=Allow')
  await articles.nth(3).filter({ hasText: 'word5 ' }).waitFor()
  await page.reload()
  await articles.nth(3).filter({ hasText: 'word59 ' }).waitFor()
  await page.getByText('Send').waitFor()
  const whole = `Writing. writeFile: output-available${words.join('')}`
  t.equal(await articles.nth(3).textContent(), whole, 'the answer is there once')

  await say('which one?')
  await articles.nth(5).filter({ hasText: 'word5 ' }).waitFor()
  await page.route('**/threads/*', async (route) => {
    const response = await route.fetch()
    await until(() => app.agent.activeRunCount === 0)
    await route.fulfill({ response })
  }, { times: 1 })
  // The run begins to wait between the page's two requests.
  await page.reload()
  await page.selectOption('[name=size]', 'l')
  await page.click('text=Answer')
  await articles.nth(5).filter({ hasText: 'A large one.' }).waitFor()
  t.match(JSON.stringify(gateway.requests[3].body.prompt), /"size":"l"|\\"size\\":\\"l\\"/, 'the model gets the answer')
  t.equal(await articles.count(), 6)
  t.equal(gateway.requests.length, 4, 'each step was made once')

  await say('name the page')
  await page.getByText('May it use setTitle?').waitFor()
  t.equal(await page.title(), 'A chat')
  await page.click('text=Allow')
  await articles.nth(7).filter({ hasText: 'It is named.' }).waitFor()
  t.equal(await page.title(), 'Lamps', 'the page has executed its own tool')
  t.match(JSON.stringify(gateway.requests[5].body.prompt), /"toolName":"setTitle","output":\{"type":"json","value":\{"title":"Lamps"\}/)
  t.match(JSON.stringify(gateway.requests[0].body.prompt), /Said by curl.*Told to curl.*write it/, 'the model gets what others wrote')
  const kept = await (await fetch(`${service}/threads/a chat`, { headers })).json() as { messages: object[] }
  t.same(kept.messages.slice(0, 4), stored, 'which stays as it was')
  // The first look at a thread that is not there yet.
  t.same(complaints.filter((text) => !text.includes('status of 404')), [])
})

t.test('examples/react-chat.tsx shows a thread whoever wrote it, asks what waits in it, and goes on', { skip: noBrowser }, async (t) => {
  const origin = await serveExample(t)
  const { app } = await withGateway(t, ({ body }) => {
    const { role, content } = body.prompt.at(-1)
    if (role === 'tool') return { text: 'Written.' }
    const calls = ['a.txt', 'b.txt'].map((path) => ({ toolName: 'writeFile', input: { path, content: path } }))
    return content.at(-1).text === 'go' ? { text: 'Look:', toolCalls: calls } : { text: 'Bye.' }
  }, { config: { allowedOrigins: [origin] } })
  const service = `http://127.0.0.1:${await listen(app)}`
  const page = await (await openBrowser(t)).newPage()
  const { complaints } = watch(page)
  const articles = page.locator('article')
  const call = { toolCallId: 'c', toolName: 'writeFile' }
  const put = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'text', text: 'Look:' }, { type: 'tool-call', ...call, input: { path: 'a.txt' } }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'json', value: {} } }] },
    { role: 'assistant', content: 'Written.' }
  ]
  await app.inject({ method: 'PUT', url: '/threads/PUT', payload: { messages: put } })
  const all: Record<string, Writer | undefined> = { ...writers, PUT: undefined }
  for (const [name, write] of Object.entries(all)) {
    await write?.(app, name)
    await page.goto(`${origin}/?service=${service}&id=${encodeURIComponent(name)}`)
    if (write !== undefined) {
      await page.getByText('May it use writeFile?').nth(1).waitFor()
      await page.getByText('Allow').first().click()
      await page.getByText('Deny').click()
    }
    await articles.nth(1).filter({ hasText: 'Written.' }).waitFor()
    const outcomes = write === undefined ? 'writeFile: output-available' : 'writeFile: output-availablewriteFile: output-denied'
    t.same(await articles.allTextContents(), ['go', `Look:${outcomes}Written.`], name)
    await page.fill('[name=message]', 'bye')
    await page.click('text=Send')
    await articles.nth(3).filter({ hasText: 'Bye.' }).waitFor()
    t.equal(await articles.count(), 4)
  }
  t.same(complaints, [])
})
