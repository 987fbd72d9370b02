import t from 'tap'
import { noBrowser, openBrowser, watch } from '../harness/browser.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { startService } from '../harness/sidecar.ts'

const TOKEN = 'the-token'

t.test('openapi.json is served as it is committed, to whom has the token', async (t) => {
  const app = await build(t, { token: TOKEN })
  t.equal((await app.inject('/openapi.json')).statusCode, 401)
  const answer = await app.inject({ url: '/openapi.json', headers: { authorization: `Bearer ${TOKEN}` } })
  t.match(answer.headers['content-type'], /^application\/json/)
  t.match(answer.json(), { openapi: '3.1.0', info: { title: 'local-agent-service' } })
})

t.test('the page and its files are open, name no other host, and are all there is', async (t) => {
  const app = await build(t, { token: TOKEN })
  const page = await app.inject('/docs')
  const { statusCode, headers, body } = await app.inject('/docs/')
  t.same([statusCode, headers['content-security-policy'], body], [200, page.headers['content-security-policy'], page.body], 'with a slash')
  t.match(page.headers, { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' })
  t.match(page.headers['content-security-policy'], /^default-src 'none'; (?!.*(?:https?:|\*|unsafe-eval)).*connect-src 'self'/)
  t.notMatch(page.body, /https?:|\/\/\w/)
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
  t.equal(files.length, 4)
  for (const file of files) t.equal((await app.inject(file)).statusCode, 200, file)
  for (const name of ['index.html', 'swagger-ui.js', '..%2Fpackage.json', 'constructor']) {
    t.match((await app.inject(`/docs/${name}`)).json(), { statusCode: 404, code: 'ERR_NOT_FOUND' }, name)
  }
})

t.test('the built service finds its document and the files of the page', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const { url } = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css']) {
    t.equal((await fetch(url + path)).status, 200, path)
  }
})

t.test('a browser without a network asks for the token, shows every operation and tries one', { skip: noBrowser }, async (t) => {
  const app = await build(t, { token: TOKEN })
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  const { hosts, complaints } = watch(page)
  const origin = `http://127.0.0.1:${await listen(app)}`

  await page.goto(`${origin}/docs`)
  await page.fill('[name=token]', 'a wrong one')
  await page.click('text=Show the interface')
  await page.waitForSelector('text=That is not the token.')
  await page.fill('[name=token]', TOKEN)
  await page.click('text=Show the interface')
  await page.waitForSelector('.opblock')
  t.equal(await page.locator('.opblock').count(), app.routeTable.endpoints.length)
  t.notOk(await page.isVisible('form >> text=Show the interface'))

  await page.click('#operations-brain-getBrain .opblock-summary-control')
  await page.click('text=Try it out')
  await page.click('button.execute')
  await page.waitForSelector('.live-responses-table >> text=contextPreview')
  t.same([...hosts], [new URL(origin).host], 'nobody else was asked')
  t.same(complaints.filter((each) => !/status of 401/.test(each)), [], 'nothing was refused to the page')
})
