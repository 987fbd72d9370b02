import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { offerPairing } from '../../services/reach/pairing-file.ts'
import { noBrowser, openBrowser, watch } from '../harness/browser.ts'
import { axe, cutOff } from '../harness/console.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { newSecret } from '../harness/reach.ts'
import { startService } from '../harness/sidecar.ts'

const LONG = 'a-very-long-name-'.repeat(8)
const CALLS = [
  { toolName: 'writeFile', input: { path: 'a.txt', content: `mine\n${'long '.repeat(60)}\n` } },
  append('x'),
  { toolName: 'writeFile', input: { path: `${LONG}.txt`, content: 'invoice \u202etxt.exe\n' } }
]

/** The built service with calls that wait, and its page for devices in a browser. */
async function openPage (t: Test) {
  t.teardown(() => {})
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ ...calling(...CALLS), reach: { port: 0 } }) }, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  const ask = (path: string, body?: object) => fetch(`${service.url}${path}`, {
    ...body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }).then((response) => response.text())
  await ask('/run', { messages: [{ role: 'user', content: 'go' }], id: 'chat', resumable: true })
  const { url } = JSON.parse(await ask('/devices'))
  return { dir, url: url as string, service, browser: await openBrowser(t), ask }
}

/** Looks at a view in light and dark: nothing is cut off or hard to read. */
async function look (t: Test, page: Page, view: string) {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.same(await axe(page), [], `${view}, ${colorScheme}: nothing is hard to read or to reach`)
  }
  t.same(await cutOff(page), [], `${view}: nothing is cut off`)
}

t.test('the page of a phone pairs, shows what waits, and answers it once', { skip: noBrowser }, async (t) => {
  const { dir, url, service, browser, ask } = await openPage(t)
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const { hosts, complaints } = watch(page)
  const tap = (name: string | RegExp) => page.getByRole('button', { name }).click()
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor()

  await page.goto(url)
  await says('Not paired')
  await look(t, page, 'not paired')
  const secret = newSecret()
  await offerPairing(`${dir}/home`, secret, Date.now())
  await page.goto(`${url}/#pair=${secret}`)
  await page.getByLabel('Name of this device').fill('my phone')
  await look(t, page, 'pairing')
  await tap('Pair')
  await says('Waiting for you: 3')
  t.notMatch(page.url(), secret, 'the code is no part of the history')
  await look(t, page, 'the list')

  await tap(/ a\.txt|“a\.txt”/)
  await says('Allow once')
  await look(t, page, 'a request')
  writeFileSync(`${dir}/work/a.txt`, 'theirs\n')
  await tap('Allow once')
  await says(/has changed since it was shown/)
  await says('-theirs')
  await tap('Allow once')
  await says('Allowed once.')
  await says('Waiting for you: 2')
  await tap(/printf x/)
  await tap('Deny')
  await says('Denied.')
  await tap(new RegExp(LONG.slice(0, 20)))
  await says(/U\+202E/)
  await look(t, page, 'a long name, with a character that would turn the text')
  await tap('Allow once')
  await says('Nothing waits for you.')
  await look(t, page, 'nothing waits')
  t.equal(effects(`${dir}/work`), '', 'what was denied did not run')
  const decided = JSON.parse(await ask('/approvals?state=decided')).approvals
  t.same(decided.map(({ device }: any) => device?.name), ['my phone', 'my phone', 'my phone'])

  await page.reload()
  await says('Nothing waits for you.')
  const settings = await browser.newPage()
  await settings.goto(`${service.url}/console/settings/general`)
  await settings.getByRole('listitem').filter({ hasText: 'my phone' }).getByRole('button', { name: 'Unpair' }).click()
  await settings.getByRole('dialog').getByRole('button', { name: 'Unpair' }).click()
  await says('Not paired')
  await settings.close()
  t.same(complaints.filter((text) => !/ (?:401|409) /.test(text)), [], 'the console of the browser is silent')
  t.same([...hosts], [new URL(url).host], 'no other host is asked')
  await context.close()
})
