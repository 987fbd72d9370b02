import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import {
  configureProviders, deleteTask, deleteThread, getAgent, getConfig, getThread, getUsage,
  listProviders, listThreads, putThread
} from '../../client/generated/index.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startFakeOpenAI } from '../fakes/openai.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole, SCREENS, showOn } from '../harness/console.ts'
import { freePort } from '../harness/free-port.ts'
import { browse, startGuarded } from '../harness/mcp-guarded.ts'
import { everything, misbehaving } from '../harness/mcp.ts'

const SECTIONS = ['models', 'servers', 'agents', 'skills', 'grants', 'usage', 'general', 'health']
t.test('settings and memory', { skip: noBrowser }, async (t) => {
  let held: Promise<unknown> | undefined
  const gateway = await startFakeGateway({
    apiKey: 'the-canary-key',
    async reply () {
      await held
      return { text: 'Yes.' }
    }
  })
  const local = await startFakeOpenAI({ models: [{ id: 'small' }, { id: 'large' }] })
  for (const server of [gateway, local]) t.teardown(() => server.close())
  const away = await startFakeOpenAI()
  await away.close()
  const { agent, browser, url, visit, work } = await openConsole(t, {
    env: { AI_GATEWAY_BASE_URL: gateway.url },
    config: { discovery: { ports: [Number(new URL(local.url).port)] }, providers: { away: { baseURL: away.url } } }
  })
  const asked = { client: agent.client, throwOnError: true } as const
  const enter = async (page: Page, key: string) => {
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.keyboard.press('Enter')
  }

  const welcome = (page: Page) => page.getByRole('region', { name: 'Connect a language model' })
  await visit('a first visit is welcomed once, on the page that it opens', async (t, page) => {
    await page.goto('/console/tasks')
    await welcome(page).getByText('Found on this machine').waitFor()
    await page.getByText('There are no tasks yet.').waitFor()
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the screen')
    }
    await page.getByRole('link', { name: 'Memory' }).click()
    await page.getByRole('heading', { name: 'Memory' }).waitFor()
    t.equal(await welcome(page).count(), 0)
    await page.goto('/console')
    await welcome(page).getByRole('link', { name: 'Try the offline assistant' }).click()
    await page.getByRole('heading', { name: 'New conversation' }).waitFor()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await page.getByText('Nothing waits for you.').waitFor()
    t.equal(await welcome(page).count(), 0, 'what was answered does not come back with its page')
    await page.reload()
    await page.getByText('Nothing waits for you.').waitFor()
    t.equal(await welcome(page).count(), 0)
  })

  await visit('the welcome connects a model of this machine, after a key that was refused, and says so', async (t, page) => {
    await page.goto('/console')
    await welcome(page).getByRole('button', { name: 'Enter a key' }).click()
    await page.getByLabel('It belongs to').selectOption('Model gateway')
    await enter(page, 'a-wrong-key')
    await page.getByText('Model gateway refuses this key.').waitFor()
    await page.getByText('Invalid API key').waitFor()
    await page.keyboard.press('Escape')
    t.notOk((await listProviders(asked)).data.gateway_configured)
    await page.getByLabel('Model of').selectOption('large')
    await page.getByRole('button', { name: 'Use this model' }).click()
    await page.getByText('The agent now answers with local/large.').waitFor()
    await page.reload()
    await page.getByText('Nothing waits for you.').waitFor()
    t.equal(await page.getByRole('button', { name: 'Enter a key' }).count(), 0)
    await configureProviders({ ...asked, body: { model: 'offline/assistant' } })
  })

  await visit('a key is stored when a call with it succeeds, and can be removed', async (t, page) => {
    await page.goto('/console/settings')
    const row = page.getByRole('row', { name: 'Model gateway' })
    const open = (name: string) => row.getByRole('button', { name }).click()
    await open('Enter a key')
    await enter(page, 'a-wrong-key')
    await page.getByText('Model gateway refuses this key. It was not stored.').waitFor()
    t.equal(await page.getByRole('button', { name: 'Store it all the same' }).count(), 0)
    t.same(await axe(page), [])

    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    await enter(page, 'the-canary-key')
    await page.getByText('Testing the key…').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    resolve()
    await row.getByText('No key').waitFor()
    await open('Enter a key')
    await enter(page, 'the-canary-key')
    await row.getByText('Has a key').waitFor()
    t.equal(gateway.requests.length, 2, 'the key that was given up was not stored, so it was tested again')
    await open('Remove the key')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the key' }).click()
    await row.getByText('No key').waitFor()
    t.notOk((await listProviders(asked)).data.gateway_configured)

    const away = page.getByRole('row', { name: 'away' })
    await away.getByRole('button', { name: 'Enter a key' }).click()
    await enter(page, 'nobody-can-test-this')
    await page.getByText('so the key could not be tested').waitFor()
    await page.getByRole('button', { name: 'Store it all the same' }).click()
    await away.getByText('Has a key').waitFor()
  })

  await visit('with nothing configured the page says so; a key is entered, a model chosen and tested, its use told', async (t, page) => {
    await configureProviders({ ...asked, body: { model: 'offline/assistant' } })
    await page.goto('/console/settings')
    await page.getByText('plain commands only').waitFor()
    const row = page.getByRole('row', { name: 'Model gateway' })
    await row.getByRole('button', { name: 'Enter a key' }).click()
    await enter(page, 'the-canary-key')
    await row.getByText('Has a key').waitFor()
    t.notOk(await page.getByRole('dialog').isVisible(), 'the dialog is closed')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Replace the key', 'and the focus is back')

    await page.getByRole('button', { name: 'Default model: ' }).click()
    await page.getByRole('combobox').fill('test/model')
    await page.getByRole('option', { name: 'test/model' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The next run uses it.').waitFor()
    t.notOk(await page.getByText('plain commands only').isVisible())
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('test/model answered in').waitFor()
    t.notMatch(await page.content() + await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'), 'canary')

    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('row', { name: 'test/model' }).waitFor()
    await page.getByRole('img', { name: 'Tokens by day' }).first().waitFor()
    await putThread({ ...asked, path: { id: 'tea' }, body: { title: 'All about tea' } })
    await agent.run({ id: 'tea', prompt: 'Why tea?' }).result()
    await page.reload()
    const count = page.getByRole('row', { name: 'All together' }).getByRole('cell')
    await page.getByRole('button', { name: 'Purpose' }).click()
    await page.getByRole('row', { name: 'Answers and work' }).waitFor()
    const total = (await count.allInnerTexts()).map((text) => text.split('\n')[0])
    await page.getByRole('button', { name: 'Conversation' }).click()
    const tea = page.getByRole('row', { name: 'All about tea' })
    await tea.getByRole('link').waitFor()
    const { from, to, groups } = (await getUsage({ ...asked, query: { by: 'model' } })).data
    const sums = (['calls', 'inputTokens', 'outputTokens'] as const).map((name) => groups.reduce((sum, group) => sum + group[name], 0))
    t.same([total[1], total[2], total[5]].map(Number), sums)
    const day = (text: string) => new Date(`${text}T00:00`).toLocaleDateString('en-US')
    await page.getByText(`from ${day(from)} to ${day(to)}`).waitFor()
    t.same(await axe(page), [])
  })

  await visit('what is remembered is added, corrected, pinned, searched and forgotten', async (_t, page) => {
    await page.goto('/console/memory')
    await page.getByText('Nothing is remembered yet.').waitFor()
    await page.getByLabel('A statement about you').fill('I live in Bern')
    await page.reload()
    await page.getByRole('button', { name: 'Remember this' }).click()
    await page.getByText('I live in Bern', { exact: true }).waitFor()
    // What was typed had survived the reload, and is sent.
    await page.getByLabel('A statement about you').and(page.locator('[value=""]')).waitFor()

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('I live in Basel')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('I live in Basel', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pin' }).click()
    await page.getByRole('button', { name: 'Unpin' }).waitFor()
    await page.getByRole('searchbox').fill('Bern')
    await page.getByText('Nothing matches “Bern”.').waitFor()
    await page.getByRole('searchbox').fill('Basel')
    await page.locator('summary', { hasText: 'What the model sees' }).click()
    await page.locator('pre', { hasText: 'I live in Basel' }).waitFor()

    await page.getByRole('button', { name: 'Forget' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('listitem').filter({ hasText: 'I live in Basel' }).waitFor()
    await page.getByRole('button', { name: 'Forget' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
    await page.getByText('Nothing matches “Basel”.').waitFor()
  })

  await visit('a tool server is added by its address, authorised at its own page, turned off, and removed', async (t, page) => {
    const { server, authorization } = await startGuarded(t)
    const redirect = `http://127.0.0.1:${await freePort()}/signed-in`
    authorization.clients.set('by-hand', { redirect_uris: [redirect] })
    await page.goto('/console/settings/servers')
    await page.getByText('No tool server is connected.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('tickets')
    const pasted = page.getByLabel('Paste from a README')
    await pasted.fill(`{ "mcpServers": { // of a README
      "bad": { "type": "carrier-pigeon", },
    } }`)
    await page.getByRole('button', { name: 'Connect these' }).click()
    await page.getByRole('status').getByRole('listitem').filter({ hasText: 'bad' }).getByText('Failed').waitFor()
    t.match(await pasted.inputValue(), /carrier/, 'what was not taken stays')
    await page.getByLabel('Program', { exact: true }).fill('npx -y "some package" --flag')
    await page.getByLabel('Program', { exact: true }).press('Tab')
    t.equal(await page.getByLabel('Program', { exact: true }).inputValue(), 'npx')
    t.equal(await page.getByLabel('Arguments, one a line').inputValue(), '-y\nsome package\n--flag')
    await page.getByLabel('a server with an address').check()
    await page.getByLabel('Address', { exact: true }).fill(server.url)
    await page.getByText('Sign in with a client of your own').click()
    await page.getByLabel('Client ID').fill('by-hand')
    await page.getByLabel('Client secret').fill('the secret of the client')
    await page.getByLabel('Redirect address').fill(redirect)
    t.same(await axe(page), [])
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    const link = page.getByRole('link', { name: 'Open the page of' })
    await link.waitFor()
    await browse((await link.getAttribute('href'))!)
    await page.locator('.status', { hasText: 'Connected' }).waitFor()
    t.same([...authorization.clients.keys()], ['by-hand'], 'no other client was registered')
    t.equal(await page.getByLabel('Client secret').inputValue(), '')
    t.notMatch(await page.content(), /the secret of the client/)
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.locator('.status', { hasText: 'Turned off' }).waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('No tool server is connected.').waitFor()

    await page.getByLabel('a program on this machine').check()
    const { name, command, args } = everything()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('textbox', { name: 'Program' }).fill(command)
    await page.getByLabel('Arguments, one a line').fill(args.join('\n'))
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('everything is connected and offers').waitFor()
    await page.getByText('is a question in the inbox').waitFor()
    await page.getByRole('button', { name: 'Details' }).click()
    await page.getByText('get-sum', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Let its \d+ reading tools run unasked$/ }).click()
    await page.getByText(/^(\d+) of its \1 reading tools run unasked\.$/).waitFor()
    await page.getByRole('button', { name: 'Show architecture.md' }).click()
    await page.getByText('Everything Server – Architecture').waitFor()
    t.same(await axe(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Let all its tools ask' }).click()
    await page.getByText(/^0 of its \d+ reading tools run unasked\.$/).waitFor()
    t.same(await axe(page), [])

    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByLabel('Name', { exact: true }).fill('slow')
    await page.getByRole('textbox', { name: 'Program' }).fill(command)
    await page.getByLabel('Run it in a box').uncheck()
    await page.getByLabel('Arguments, one a line').fill(misbehaving('slow', ['--mute', '--says=Downloading slow 1.2.0']).args.join('\n'))
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    const slow = page.getByRole('listitem').filter({ hasText: 'slow' })
    await slow.getByText(/^Starting: .* of 1m 0s at most\. Downloading slow 1\.2\.0$/).waitFor()
    t.same(await slow.getByRole('button').count(), 0, 'it is not saved yet')
    t.same(await axe(page), [])
    await page.reload()
    await slow.waitFor({ state: 'detached' })
    // A page that has not heard of the removal yet may ask for the server once more.
  }, { expected: /status of 404.*\/mcp\/servers\/tickets$/ })

  await visit('skills are listed with their states, and one that changed is accepted as it is', async (t, page) => {
    const skills = `${work}/.claude/skills`
    for (const [name, text] of [['notes', '---\ndescription: Writes notes.\n---\nWrite.'], ['bad', 'Nothing.']]) {
      mkdirSync(`${skills}/${name}`, { recursive: true })
      writeFileSync(`${skills}/${name}/SKILL.md`, text)
    }
    await page.goto('/console/settings/skills')
    const notes = page.getByRole('listitem').filter({ hasText: 'Writes notes.' })
    await notes.getByText('Not read yet').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Cannot be used' }).getByText('does not begin with a front matter').waitFor()
    await notes.getByRole('button', { name: 'Accept' }).click()
    await notes.getByText('As it was read').waitFor()
    writeFileSync(`${skills}/notes/run.sh`, 'echo one')
    await page.getByRole('button', { name: 'Look', exact: true }).click()
    await notes.getByText('Other than when it was read: run.sh').waitFor()
    t.same(await axe(page), [])
    writeFileSync(`${skills}/notes/run.sh`, 'echo two')
    await notes.getByRole('button', { name: 'Accept the change' }).click()
    await notes.getByText('has changed since it was shown').waitFor()
    await notes.getByRole('button', { name: 'Accept the change' }).click()
    await notes.getByText('As it was read').waitFor()
    await page.getByLabel('For work in the folder').fill('/no/such/folder')
    await page.getByRole('button', { name: 'Look', exact: true }).click()
    await page.getByText('/no/such/folder').waitFor()
  }, { expected: /status of 4(00|09)/ })

  await visit('an agent is made, chosen for a conversation, which keeps it and its effort, and stays while it is used', async (t, page) => {
    await page.goto('/console/settings/agents')
    await page.getByText('There are no agents yet.').waitFor()
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByLabel('Name', { exact: true }).fill('shop')
    await page.getByLabel('Instructions').fill('SELL BOOKS')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByLabel('Tools that it may use').fill('readFlie')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('there is no such tool').waitFor()
    t.same(await axe(page), [])
    await page.getByLabel('Tools that it may use').fill('readFile\nlistDirectory')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('listitem').filter({ hasText: 'shop' }).waitFor()

    await page.goto('/console/chat')
    await page.getByLabel('Agent of this conversation').selectOption('shop')
    await page.getByLabel('How much the model thinks').selectOption('Thinking: high')
    await page.getByLabel('Message', { exact: true }).fill('What do you sell?')
    await page.keyboard.press('Enter')
    await page.getByText('Yes.').waitFor()
    const request = gateway.requests.findLast(({ structured }) => structured === undefined)!
    t.match(request.body, { reasoning: 'high', prompt: [{ content: /SELL BOOKS/ }] })
    await page.waitForURL(/chat\/./)
    await page.reload()
    await page.getByLabel('Agent of this conversation').and(page.locator(':has(option:checked[value=shop])')).waitFor()
    const id = page.url().split('/').at(-1)!
    const settings = async () => (await getThread({ ...asked, path: { id } })).data.settings
    t.same(await settings(), { agent: 'shop', options: { effort: 'high' } })
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await page.getByLabel('How much the model thinks').selectOption('Thinking: normal')
    await saved
    t.same(await settings(), { agent: 'shop' })
    t.same(await axe(page), [])

    await page.goto('/console/tasks/new')
    await page.getByLabel('Goal').fill('system info')
    await page.getByText('Folder, model and limits').click()
    await page.getByRole('combobox', { name: 'Agent', exact: true }).selectOption('shop')
    await page.getByRole('button', { name: 'Create only' }).click()
    await page.getByRole('group', { name: 'What you can do with this task' }).waitFor()
    await page.getByText('Folder, model and limits').click()
    await page.getByRole('definition').filter({ hasText: 'shop' }).waitFor()
    const taskId = page.url().split('/').at(-1)!
    await page.goto('/console/settings/agents')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('What it is for').fill('Sells')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Sells', { exact: true }).waitFor()
    const options = { instructions: 'SELL BOOKS', allowTools: ['readFile', 'listDirectory'] }
    t.same((await getAgent({ ...asked, path: { name: 'shop' } })).data.options, options)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The agent "shop" is used by 1 conversation and 1 task.').waitFor()
    await deleteThread({ ...asked, path: { id } })
    await deleteTask({ ...asked, path: { id: taskId } })
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('There are no agents yet.').waitFor()
  }, { expected: /status of (?:400|409)/ })

  await t.test('every section and the memory have nothing that axe complains of, in both themes and narrow', async (t) => {
    await agent.run({ prompt: 'hello' }).result()
    const opened = await browser.newContext({ baseURL: url })
    const page = await opened.newPage()
    for (const path of ['memory', ...SECTIONS.map((section) => `settings/${section}`)]) {
      await page.goto(`/console/${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      while (await page.locator('.loading').count() > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
      for (const screen of SCREENS) {
        await showOn(page, screen)
        t.same(await axe(page), [], `${path}: ${screen.name}`)
      }
    }
    await opened.close()
  })

  await visit('a place is found by typing, keys have a list, the looks stay chosen, and all is saved and erased', async (t, page) => {
    await page.goto('/console/memory')
    await page.getByRole('heading', { name: 'Memory' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Find anything').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Find anything' })
    await page.getByRole('option').first().filter({ hasText: 'Conversation' }).waitFor()
    await field.fill('hello')
    await page.getByRole('option').filter({ hasText: 'Conversation' }).waitFor()
    t.same(await axe(page), [])
    await field.fill('dark')
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark')
    await page.keyboard.press('Control+k')
    await field.fill('settings')
    for (const name of ['Agents', 'Skills', 'Permissions', 'Usage', 'Health']) await page.getByRole('option', { name }).first().waitFor()
    await field.fill('general')
    await page.keyboard.press('Enter')
    await page.getByLabel('Size of the text').selectOption('Large')
    await page.reload()
    t.equal(await page.getByLabel('Theme').inputValue(), 'dark')
    t.equal(await page.evaluate('getComputedStyle(document.body).fontSize'), '15.75px')

    await page.getByLabel('US dollars a day').fill('2.5')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('main').getByText('Saved. It holds at once.').waitFor()
    t.match((await getConfig(asked)).data, { budget: { day: { usd: 2.5 } } })
    await page.getByLabel('US dollars a day').and(page.locator('[value="2.5"]')).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    while (JSON.stringify((await getConfig(asked)).data).includes('2.5')) await page.waitForTimeout(20)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save a copy to read' }).click()
    t.match(readFileSync(await (await saved).path(), 'utf8'), 'hello')
    await page.getByRole('button', { name: 'Erase everything' }).click()
    const erase = page.getByRole('dialog').getByRole('button', { name: 'Erase everything' })
    t.ok(await erase.isDisabled())
    await page.getByLabel('Type “erase” to confirm').fill('erase')
    await erase.click()
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    t.same((await listThreads(asked)).data.threads, [])
  }, { colorScheme: 'light', expected: /ERR_|Failed to load/ })
})
