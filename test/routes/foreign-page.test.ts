import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import t, { type Test } from 'tap'
import { noBrowser, openBrowser } from '../harness/browser.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'

const ATTACKS = fileURLToPath(new URL('../harness/foreign-page.js', import.meta.url))
const NAMES = ['evil.example', 'allowed.example', 'rebound.example']

// Nothing of the browser's own may stand in the way of what is tried here.
const browser = noBrowser || await openBrowser(
  t,
  [`--host-resolver-rules=${NAMES.map((name) => `MAP ${name} 127.0.0.1`).join(', ')}`, '--disable-features=LocalNetworkAccessChecks']
)

/** A service that asks nobody before it writes, somebody's web server beside it, and a browser. */
async function start (t: Test) {
  const seen: Array<{ attack: string, status: number }> = []
  const site = createServer((request, response) => {
    // A page may be sent on with its body, as if it had asked there itself.
    const to = new URL(request.url!, 'http://site').searchParams.get('to')
    if (to) response.writeHead(307, { location: to, 'access-control-allow-origin': '*' }).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A page</title>')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => { site.closeAllConnections(); site.close() })
  const { port: sitePort } = site.address() as AddressInfo
  const app = await build(t, {
    config: { permissions: { writeFile: 'allow', runCommand: 'allow' }, allowedOrigins: [`http://allowed.example:${sitePort}`] }
  })
  app.server.on('request', ({ url }, response) => response.on('close', () => {
    const attack = new URL(url!, 'http://service').searchParams.get('attack')
    if (attack === null) return
    seen.push({ attack, status: response.statusCode })
    app.server.emit('attacked')
  }))
  const port = await listen(app)
  return {
    app,
    port,
    sitePort,
    seen,
    /** Attacks from the page at `url`, until every attack was answered; resolves to what the page got of each. */
    async attackFrom (url: string, service: string) {
      const context = await (browser as Browser).newContext()
      const page = await context.newPage()
      await page.goto(url)
      await page.addScriptTag({ path: ATTACKS })
      const got = await page.evaluate(`attack(${JSON.stringify(service)}, ${JSON.stringify(url)})`) as Record<string, string>
      for (const name of Object.keys(got)) {
        while (!seen.some(({ attack }) => attack === `${name} ${url}`)) await once(app.server, 'attacked')
      }
      await context.close()
      return got
    },
    written: () => readdirSync(app.cwd)
  }
}

const nothing = (got: Record<string, string>) => Object.fromEntries(Object.keys(got).map((name) => [name, 'nothing']))

t.test('nothing that a foreign page can send runs anything or is answered with anything', { skip: noBrowser }, async (t) => {
  const { port, sitePort, seen, attackFrom, written } = await start(t)
  for (const origin of [`http://127.0.0.1:${sitePort}`, `http://localhost:${sitePort}`, `http://evil.example:${sitePort}`]) {
    const got = await attackFrom(origin, `http://127.0.0.1:${port}`)
    t.ok(Object.keys(got).length > 15)
    t.same(got, nothing(got), origin)
  }
  t.same(seen.filter(({ status }) => status !== 403), [], 'everything was refused')
  t.same(written(), [], 'nothing was written')
})

t.test('a page whose name was made to resolve to this machine is refused', { skip: noBrowser }, async (t) => {
  const { port, seen, attackFrom, written } = await start(t)
  const origin = `http://rebound.example:${port}`
  const got = await attackFrom(origin, origin)
  t.same(got, nothing(got))
  t.same(seen.filter(({ status }) => status !== 403), [])
  t.same(written(), [])
})

t.test('a page that is allowed may do what those may not: these tests could fail', { skip: noBrowser }, async (t) => {
  const { port, sitePort, attackFrom, written } = await start(t)
  const got = await attackFrom(`http://allowed.example:${sitePort}`, `http://127.0.0.1:${port}`)
  t.match(got['a JSON request'], /finish/)
  t.match(got['reading what is remembered'], /contextPreview/)
  t.same(written(), ['marker.txt'])
})
