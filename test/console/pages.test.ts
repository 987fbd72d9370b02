import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { createAgent } from '../../client/agent.ts'
import { configureProviders, deleteThread, getConfig, learnFact, listProviders, listThreads } from '../../client/generated/index.ts'
import { startFakeOpenAI } from '../fakes/openai.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole, SCREENS, showOn } from '../harness/console.ts'
import { writeEngine, writeModel } from '../harness/model-files.ts'
import { hostileModel, seedHostile } from './hostile.ts'

/** Kinds of elements of a page, with most of what styles decide of their looks; without what stands where a part is still loading. */
const LOOKS = `[...new Set([...document.querySelectorAll('body, body :not(.loading, .loading *)')].map((element) => {
  const style = getComputedStyle(element)
  const looks = ['display', 'position', 'color', 'background-color', 'font', 'padding', 'border', 'gap', 'flex', 'flex-wrap', 'align-items',
    'justify-items', 'justify-content', 'white-space', 'text-align', 'text-decoration', 'list-style', 'overflow', 'max-width', 'min-height']
  return element.tagName + '.' + element.className + ': ' + looks.map((name) => style.getPropertyValue(name)).join('; ')
}))]`

/** Those of the looks that a page lacks, once it has them all or has not come to them in a while. */
const missing = (looks: string[]) => `(async () => {
  for (let frame = 0; ; frame++) {
    const actual = new Set(${LOOKS})
    const missing = ${JSON.stringify(looks)}.filter((look) => !actual.has(look))
    if (missing.length === 0 || frame === 300) return missing
    await new Promise(requestAnimationFrame)
  }
})()`

t.test('all pages, full of hostile content', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t, { reply: hostileModel, work: { '<img src=x onerror=alert(1)>': '' } })
  const pages = await seedHostile(console.agent)
  const asked = { client: console.agent.client, throwOnError: true } as const

  await console.visit('nothing runs or is fetched, axe finds nothing, and nothing is cut off', async (t, page) => {
    for (const path of pages) {
      await page.goto(path)
      await page.locator('main:not(:has(.loading)) h1').waitFor()
      for (const screen of SCREENS) {
        await showOn(page, screen)
        t.same(await axe(page), [], `${path}: ${screen.name}`)
        t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, 'no page scrolls sideways')
      }
      t.equal(await page.evaluate('window.hacked'), undefined)
    }
  })

  await console.visit('a page looks the same, whichever pages were visited before it', async (t, page) => {
    const fresh = new Map<string, string[]>()
    for (const path of pages) {
      await page.goto(path)
      await page.locator('main:not(:has(.loading)) h1').waitFor()
      fresh.set(path, await page.evaluate<string[]>(LOOKS))
    }
    for (const path of [...pages.toReversed(), ...pages]) {
      await page.evaluate(`history.pushState(null, '', '${path}')`)
      t.same(await page.evaluate(missing(fresh.get(path)!)), [], path)
    }
  })

  await console.visit('a model file says why it cannot be used, is seen to load, and then answers', async (t, page) => {
    const file = (name: string) => join(console.home, 'models', `${name}.gguf`)
    for (const name of ['small', 'cut', '<img src=x onerror=alert(1)>']) writeModel(file(name), name === 'cut' ? 'CUT OFF' : 'sss')
    writeFileSync(file('empty'), '')
    writeFileSync(`${file('small')}.hold`, '')
    const card = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await page.goto('/console/settings')
    await card('small').getByText("Model files need llama.cpp's server").waitFor()
    await card('empty').getByText('The file is empty').waitFor()
    t.equal(await page.getByRole('row', { name: 'Model files Needs no key' }).getByRole('button').count(), 0)
    t.same(await axe(page), [])

    writeEngine(join(console.home, 'engine/llama-server'))
    await card('small').getByRole('button', { name: 'Try again' }).click()
    await card('small').getByRole('progressbar', { name: 'Loading' }).waitFor()
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    }
    rmSync(`${file('small')}.hold`)
    await card('small').getByText('It is loaded, and the next answers come from it.').waitFor()
    await card('small').getByText(/reads 8,192 tokens at once · writes [\d.,]+ tokens a second/).waitFor()
    await card('cut').getByRole('button').click()
    await card('cut').getByText('Its file is cut off or broken. Get it once more.').waitFor()
    const { data } = await listProviders(asked)
    t.equal(data.active_model, 'local/small', 'what cannot answer is not used')
    await configureProviders({ ...asked, body: { model: 'test/model' } })
  })

  await console.visit('characters that hide or reorder others are shown by their codes', async (t, page) => {
    await page.goto('/console')
    const item = page.getByRole('article', { name: /^Write .*\?$/ })
    await item.getByText('notes⟨U+202E⟩txt.exe').first().waitFor()
    t.match(await page.getByRole('article', { name: 'Run this command?' }).innerText(), '⟨U+200B⟩&& rm -rf /')
    t.notMatch(await page.locator('main').innerText(), /[\u202E\u2066\u200B]/)
  })

  await console.visit('a folder is found by keys and by the pointer, also among thousands, and the focus returns', async (t, page) => {
    const { work } = console
    for (let n = 0; n < 1_200; n++) mkdirSync(`${work}/many/part ${String(n).padStart(4, '0')}`, { recursive: true })
    for (const name of ['many/part 1199/in', '.hidden', 'txt\u202Efolder']) mkdirSync(`${work}/${name}`, { recursive: true })
    symlinkSync(`${work}/many`, `${work}/to-many`)
    await page.goto('/console/tasks/new')
    await page.evaluate(`window.longest = 0; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
    }).observe({ type: 'longtask' })`)
    await page.getByText('Folder, model and limits').click()
    const field = page.getByLabel('Working folder')
    await field.fill(`${work}/gone`)
    await page.getByRole('button', { name: 'Look for a folder…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('alert').getByText(`There is no folder "${work}/gone" on this computer.`).waitFor()
    await dialog.getByRole('option', { name: 'txt⟨U+202E⟩folder' }).waitFor()
    t.equal(await dialog.getByRole('option', { name: '.hidden' }).count(), 0)
    await dialog.getByRole('option', { name: `to-many → ${work}/many` }).waitFor()

    await page.keyboard.type('TO')
    await dialog.getByRole('status').getByText('1 folder.').waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByText('900 more entries are not shown').waitFor()
    t.ok(await dialog.getByRole('button', { name: 'Use “many”' }).isEnabled(), 'a link leads to the real folder')
    t.equal(await dialog.getByRole('option').count(), 300)
    t.comment(`the longest task of the page took ${await page.evaluate('longest')} ms`)
    await page.keyboard.type('part 1199')
    await dialog.getByRole('option').nth(1).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await dialog.getByRole('option', { name: 'in', exact: true }).waitFor()
    await page.keyboard.press('Backspace')
    await dialog.getByRole('option', { name: 'part 0000' }).waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await dialog.getByRole('option', { name: 'many', exact: true }).waitFor()
    await page.keyboard.type(`${work}/nowhere`)
    await page.keyboard.press('Enter')
    await dialog.getByText(`There is no folder "${work}/nowhere" on this computer.`).waitFor()
    await dialog.getByRole('combobox').fill('/proc/self')
    await page.keyboard.press('Enter')
    await dialog.getByText('Here are devices and parts of the system').waitFor()
    t.ok(await dialog.getByRole('button', { name: /^Use/ }).isDisabled())
    await dialog.getByRole('button', { name: 'Usual folder' }).click()
    await dialog.getByLabel('Show hidden folders').check()
    await dialog.getByRole('option', { name: '.hidden' }).waitFor()
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
      t.ok((await dialog.getByRole('button', { name: /^Use/ }).boundingBox())!.y > 0)
    }
    await dialog.getByRole('option', { name: '.hidden' }).click()
    await dialog.getByRole('status').getByText('There are no folders in it.').waitFor()
    await dialog.getByRole('button', { name: 'Use “.hidden”' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.equal(await field.inputValue(), `${work}/.hidden`)
    await page.locator('button:focus', { has: page.locator('svg.lucide-folder-search') }).waitFor()
  }, { expected: /status of 404/ })

  await console.visit('no other page can show the console in a frame, and its answers forbid it', async (t, page) => {
    const response = await page.goto('/console')
    t.match(response!.headers()['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/)
    await page.goto('about:blank')
    const refused = page.waitForEvent('requestfailed')
    await page.setContent(`<iframe src="${console.url}/console" style="width: 900px; height: 700px"></iframe>`)
    await refused
    t.equal(await page.frameLocator('iframe').getByRole('button').count(), 0)
  }, { expected: /frame/i })

  await console.visit('a backup is imported: told what is in it, asked, and shown in pages that were open', async (t, page) => {
    const { threads: [{ id }] } = (await listThreads(asked)).data
    const passphrase = 'größer als zwölf'
    await page.goto('/console/settings/general')
    await page.getByText('They can be changed here when the service has a token').waitFor()
    await page.getByLabel('Passphrase of a backup').fill(passphrase)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save a backup' }).click()
    const file = await readFile(await (await saved).path())
    await page.getByText('Saved as local-agent.backup').waitFor()
    await deleteThread({ ...asked, path: { id } })
    await learnFact({ ...asked, body: { fact: 'Came after the backup' } })
    const other = await page.context().newPage()
    await other.goto('/console/memory')
    await other.getByText('Came after the backup', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Import a backup…' }).click()
    const dialog = page.getByRole('dialog')
    const choose = async (buffer: Buffer, typed: string) => {
      await dialog.getByLabel('File of the backup').setInputFiles({ name: 'my.backup', mimeType: 'application/octet-stream', buffer })
      await dialog.getByLabel('Its passphrase').fill(typed)
      await dialog.getByRole('button', { name: 'See what is in it' }).click()
    }
    await choose(Buffer.from('{"threads": []}'), passphrase)
    await dialog.getByText('This is not a backup.').waitFor()
    await choose(file, 'another passphrase')
    await dialog.getByText('The passphrase is not the one that this backup was made with').waitFor()
    await choose(file.subarray(0, -100), passphrase)
    await dialog.getByText('The backup is damaged or incomplete').waitFor()
    await choose(file, passphrase)
    const row = (name: string) => dialog.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    await row('Things in the memory').waitFor()
    const [there, here] = await row('Conversations').getByRole('cell').allInnerTexts()
    t.equal(Number(there), Number(here) + 1)
    const replace = dialog.getByRole('button', { name: 'Replace everything' })
    t.ok(await replace.isDisabled())
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    }
    await dialog.getByLabel('Type “replace” to confirm').fill('Replace')
    await replace.click()
    await dialog.getByText('The backup is in place').waitFor({ timeout: 30_000 })
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await dialog.waitFor({ state: 'detached' })
    await other.getByText('Came after the backup', { exact: true }).waitFor({ state: 'detached', timeout: 30_000 })
    t.ok((await listThreads(asked)).data.threads.some((thread) => thread.id === id), 'what was deleted meanwhile is back')
  }, { expected: /status of (?:400|503)|ERR_|Failed to load/ })
})

t.test('a service with a token asks for it before it shows anything', { skip: noBrowser }, async (t) => {
  const env = { LOCAL_AGENT_TOKEN: 'a-token-of-the-tést' }
  const console = await openConsole(t, { env })
  const restartWith = async (token: string) => {
    await console.service().stop()
    env.LOCAL_AGENT_TOKEN = token
    await console.restart()
  }
  const ask = (prompt: string) => createAgent({ url: console.url, token: env.LOCAL_AGENT_TOKEN }).run({ prompt }).result()
  const enter = async (page: Page, token: string) => {
    await page.getByRole('textbox', { name: 'Token' }).fill(token)
    await page.keyboard.press('Enter')
  }

  await console.visit('a wrong token is refused, the right one holds for all tabs, also over a reload', async (t, page) => {
    await page.goto('/console/memory')
    await enter(page, 'wrong')
    await page.getByText('does not accept this token').waitFor()
    t.same(await axe(page), [])
    await enter(page, env.LOCAL_AGENT_TOKEN)
    await page.getByRole('heading', { name: 'Memory' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await page.getByText('Nothing waits for you.').waitFor()
    await ask('write "Buy tea" to a.txt')
    await page.getByRole('article', { name: /^Write .*\?$/ }).waitFor()

    const other = await page.context().newPage()
    await other.goto('/console')
    await other.getByRole('article', { name: /^Write .*\?$/ }).waitFor()
    const stored = 'JSON.stringify({ ...sessionStorage, ...localStorage })'
    t.notMatch(`${await page.evaluate(stored)} ${await other.evaluate(stored)}`, env.LOCAL_AGENT_TOKEN)
    // A new session of the browser has no token.
    const stranger = await (await console.browser.newContext({ baseURL: console.url })).newPage()
    await stranger.goto('/console')
    await stranger.getByLabel('Token').waitFor()
    t.notMatch(await stranger.locator('body').innerText(), /Write a file/)
    // The health is answered without a token, here before all else, which does not make a stranger known.
    await stranger.addInitScript('delete globalThis.SharedWorker')
    const answered = stranger.waitForResponse(`${console.url}/health`)
    await stranger.route(/:\d+\/(?!health$|console)/, (route) => answered.then(() => route.continue()))
    await stranger.goto('/console/settings/health')
    await stranger.getByRole('main').getByLabel('Token').waitFor()
    await stranger.context().close()
  }, { expected: /status of 401/ })

  await console.visit('folders are added for the agent and taken away', async (t, page) => {
    const roots = async () => {
      const { client } = createAgent({ url: console.url, token: env.LOCAL_AGENT_TOKEN })
      const { data } = await getConfig({ client, throwOnError: true })
      return (data as { roots?: string[] }).roots
    }
    await page.goto('/console/settings/general')
    await enter(page, env.LOCAL_AGENT_TOKEN)
    await page.getByRole('button', { name: 'Add a folder…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use “work”' }).click()
    const remove = page.getByRole('button', { name: `Remove ${console.work}` })
    await remove.waitFor()
    t.same(await roots(), [console.work])
    await remove.click()
    await remove.waitFor({ state: 'detached' })
    t.same(await roots(), [])
  }, { expected: /status of 401/ })

  await console.visit('an address is tried and kept with its key, and of its 400 models one is found and used by keys', async (t, page) => {
    const models = Array.from({ length: 400 }, (_, n) => ({
      ...{ id: `maker-${n % 7}/model-${n}`, name: `Model ${n}`, context_length: 200_000 },
      pricing: { prompt: '0.000003', completion: '0.000015' }
    }))
    const server = await startFakeOpenAI({ models, apiKey: 'the-canary-key' })
    t.teardown(() => server.close())
    const { client } = createAgent({ url: console.url, token: env.LOCAL_AGENT_TOKEN })
    const asked = { client, throwOnError: true } as const
    const names = async () => (await listProviders(asked)).data.providers.map(({ name }) => name)
    const dialog = page.getByRole('dialog')
    await page.goto('/console/settings')
    await enter(page, env.LOCAL_AGENT_TOKEN)
    await page.getByRole('button', { name: 'Connect another address…' }).click()
    await page.getByLabel('Address', { exact: true }).fill(`${server.url}/chat/completions`)
    await page.getByLabel('Name', { exact: true }).fill('openai')
    await dialog.getByText('There is a provider openai already.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('many')
    await page.getByLabel('Key, if it needs one').fill('a-wrong-key')
    await dialog.getByRole('button', { name: 'Try' }).click()
    await dialog.locator('.note-bad').waitFor()
    t.notOk((await names()).includes('many'), 'what was only tried is not kept')
    await page.getByLabel('Key, if it needs one').fill('the-canary-key')
    await dialog.getByRole('button', { name: 'Try' }).click()
    await dialog.getByText('many/maker-0/model-0 answered in').waitFor()
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
    }
    await showOn(page, SCREENS[0])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: 'many' }).getByText('Has a key').waitFor()
    const config = (await getConfig(asked)).data as { providers: object, model: string }
    t.same([config.providers, config.model], [{ many: { baseURL: server.url } }, 'many/maker-0/model-0'])
    t.notMatch(await page.content() + await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'), 'canary')

    await page.getByRole('link', { name: 'Chat' }).click()
    const picker = page.getByRole('button', { name: 'Model of the next messages: ' })
    await picker.click()
    const field = page.getByRole('combobox', { name: 'Find a model' })
    await page.getByRole('group', { name: 'many' }).getByRole('option', { name: 'Model 17' }).first().waitFor()
    t.ok(await page.getByRole('option').count() < 100, 'a long list is not drawn whole')
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
    }
    await showOn(page, SCREENS[0])
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await page.getByRole('option', { selected: true, name: 'Model 399' }).waitFor()
    await field.fill('maker-3 model 38')
    await page.getByRole('option', { selected: true, name: 'Model 38' }).getByText('200K tokens · $3.00 / $15.00').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Model of the next messages: maker-3/model-381' }).waitFor()
    t.match(await page.evaluate('document.activeElement.textContent'), 'model-381', 'the focus is back')
    await page.getByLabel('Message', { exact: true }).fill('hello')
    await page.keyboard.press('Enter')
    await page.waitForURL(/chat\/./)
    while (!server.requests.some(({ modelId }) => modelId === 'maker-3/model-381')) await page.waitForTimeout(20)
    await picker.click()
    await page.getByRole('group', { name: 'Used lately' }).getByRole('option', { name: 'Model 381' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await page.goto('/console/settings')
    await page.getByRole('row', { name: 'many' }).getByRole('button', { name: 'Disconnect' }).click()
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'many' }).waitFor({ state: 'detached' })
    t.same((await getConfig(asked)).data?.providers, {})
  }, { expected: /status of 401/ })

  await console.visit('when the token changes under a page, it is asked for over the page, which then goes on', async (t, page) => {
    const question = page.getByRole('dialog', { name: 'The token has changed' })
    await page.goto('/console/memory')
    await enter(page, env.LOCAL_AGENT_TOKEN)
    await page.getByLabel('A statement about you').fill('I live in Bern')
    await page.getByRole('button', { name: 'Remember this' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('I live in Basel')
    await restartWith('the-second-token')
    // Nothing was pressed: the events tell.
    await question.waitFor()
    const other = await page.context().newPage()
    await other.goto('/console')
    await other.getByLabel('Token').waitFor()
    t.same(await axe(page), [])
    await page.keyboard.press('Escape')
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await question.getByText('does not accept this token').waitFor()
    await enter(page, 'the-second-token')
    await question.waitFor({ state: 'detached' })
    t.equal(await page.getByRole('dialog').getByRole('textbox').inputValue(), 'I live in Basel', 'what was typed is kept')
    await other.getByRole('heading', { name: 'Inbox' }).waitFor()
    await other.close()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('I live in Basel', { exact: true }).waitFor()
    await ask('write "Buy milk" to b.txt')
    await page.getByText('2 items wait for you').waitFor({ state: 'attached' })
  }, { expected: /status of 401|ERR_|Failed to load/ })

  await console.visit('a change that the service refused for its token is made when the right one is entered', async (t, page) => {
    await page.addInitScript('delete globalThis.SharedWorker')
    await page.goto('/console/memory')
    await enter(page, env.LOCAL_AGENT_TOKEN)
    await page.getByLabel('A statement about you').fill('I keep bees')
    await page.route('**/events', (route) => route.abort())
    await restartWith('the-third-token')
    await page.getByRole('button', { name: 'Remember this' }).click()
    await enter(page, 'the-third-token')
    await page.getByText('I keep bees', { exact: true }).waitFor()
    t.equal(await page.getByText('I keep bees', { exact: true }).count(), 1)
    await page.getByLabel('A statement about you').and(page.locator('[value=""]')).waitFor()
  }, { expected: /status of 401|ERR_|Failed to load/ })
})
