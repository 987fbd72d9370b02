import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import t from 'tap'
import { noBrowser, openBrowser, watch } from '../harness/browser.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'

const HTML = '<!doctype html><title>A chat</title><link rel="icon" href="data:,"><body><script type="module" src="/chat.js"></script>'
const PAGE = fileURLToPath(new URL('../harness/chat-page.js', import.meta.url))

t.test('a page that is reloaded after an approval, while the rest streams, shows the whole answer once', { skip: noBrowser }, async (t) => {
  const { outputFiles: [{ text: script }] } = await bundle({ entryPoints: [PAGE], bundle: true, format: 'esm', write: false })
  const site = createServer(({ url }, response) => {
    const isScript = url === '/chat.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : HTML)
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => { site.closeAllConnections(); site.close() })
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`

  const rest = Array.from({ length: 80 }, (_, n) => `word${n} `)
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) =>
      nth === 0
        ? { text: 'Writing. ', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } }] }
        : { text: rest, partMs: 25 },
    { config: { allowedOrigins: [origin] } }
  )
  const service = `http://127.0.0.1:${await listen(app)}`
  const page = await (await openBrowser(t)).newPage()
  const { complaints } = watch(page)
  const answer = page.locator('article').nth(1)

  await page.goto(`${origin}/?service=${encodeURIComponent(service)}`)
  await page.waitForFunction('window.chat')
  await page.evaluate("void chat.sendMessage({ text: 'write it' })")
  await page.getByRole('button').click()
  await answer.filter({ hasText: 'word5' }).waitFor()
  await page.reload()
  await answer.filter({ hasText: 'word79' }).waitFor()
  await page.locator('body[data-status=ready]').waitFor()

  const whole = `Writing. [writeFile output-available]${rest.join('')}`
  t.equal(await answer.textContent(), whole)
  t.equal(await page.locator('article').count(), 2)
  await page.reload()
  await answer.filter({ hasText: 'word79' }).waitFor()
  t.equal(await answer.textContent(), whole, 'and so does the thread')
  t.equal(gateway.requests.length, 2, 'each step was made once')
  // The first look at a thread that is not there yet.
  t.same(complaints.filter((text) => !text.includes('status of 404')), [])
})
