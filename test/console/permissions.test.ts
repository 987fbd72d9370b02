import { existsSync, rmSync } from 'node:fs'
import t from 'tap'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole, press, say } from '../harness/console.ts'

/** The model writes the file that was asked for. */
function reply ({ body: { prompt } }: GatewayRequest): Plan {
  const last = prompt.findLast(({ content }: any) => content[0].text?.startsWith('[Not written by the user.') !== true)
  const path = /\w+\.md/.exec(JSON.stringify(last.content))?.[0]
  return last.role === 'user' ? { toolCalls: [{ toolName: 'writeFile', input: { path, content: 'Buy tea' } }] } : { text: 'That is done.' }
}

t.test('a permission is given, found where it holds and taken back', { skip: noBrowser }, async (t) => {
  const { work, visit } = await openConsole(t, { reply })

  await visit('by the keyboard, and the next call asks again', async (t, page) => {
    const request = page.getByRole('article', { name: /^Write / })
    const done = page.getByText('That is done.')
    await page.goto('/console/chat')
    await say(page, 'write one.md')
    await request.locator('summary').filter({ hasText: 'Next time' }).focus()
    await page.keyboard.press('Enter')
    await request.getByRole('radio', { name: /^Always allow/ }).last().focus()
    await page.keyboard.press('Space')
    await press(request.getByRole('button', { name: /^Allow/ }), 'Enter')
    await done.waitFor()
    await say(page, 'write two.md')
    await done.nth(1).waitFor()
    t.ok(existsSync(`${work}/two.md`), 'it does not ask')

    const { pathname } = new URL(page.url())
    await page.getByRole('link', { name: '1 permission holds in this chat' }).focus()
    t.same(await axe(page), [])
    await page.keyboard.press('Enter')
    const row = page.getByRole('row').filter({ hasText: '.md files' })
    await row.getByRole('link', { name: 'write one.md' }).waitFor()
    t.same(await axe(page), [])
    await row.getByRole('button', { name: 'Remove' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('There are no standing permissions.').waitFor()

    await page.goto(pathname)
    await done.nth(1).waitFor()
    t.equal(await page.getByRole('link', { name: /permission/ }).count(), 0)
    rmSync(`${work}/two.md`)
    await say(page, 'write two.md')
    await request.waitFor()
    t.notOk(existsSync(`${work}/two.md`), 'it asks')

    // Between a decision and what the service tells of the conversation, only the run tells what became of the call.
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/threads/**', (route) => released.then(() => route.continue()))
    await press(request.getByRole('button', { name: 'Allow once' }))
    await request.waitFor({ state: 'detached' })
    const call = page.locator('.call summary').last()
    await call.waitFor()
    t.notMatch(await call.innerText(), /Not run/)
    release()
    await done.nth(2).waitFor()
  })
})
