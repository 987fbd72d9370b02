import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { connectToolServer, disconnectToolServer, getThread, putThread } from '../../client/generated/index.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, message, openConsole, press, say, steer } from '../harness/console.ts'
import { misbehaving } from '../harness/mcp.ts'

const HOSTILE = '# Plan\n\n## Part\n\n### Detail\n\n<script>document.title = "ran"</script><img src=x onerror="document.title = 1">\n\n' +
  '![a pixel](https://evil.example/x.png) [click](javascript:document.title=2) [page](/console/settings) [web](https://example.com/)\n\n' +
  '```sh\nrm \u202Etxt.a\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done'

/** Until then a short answer waits. */
const steered = Promise.withResolvers<void>()

/** The model does what the last message of the user says. */
function reply ({ body }: GatewayRequest): Plan | Promise<Plan> {
  const last = body.prompt.at(-1)
  if (last.role === 'tool') return { text: 'That is done.' }
  const said = JSON.stringify(last.content)
  const call = (toolName: string, input: object) => ({ toolCalls: [{ toolName, input }] })
  if (said.includes('three files')) {
    return { toolCalls: ['1', '2', '3'].map((n) => ({ toolName: 'writeFile', input: { path: `copied/${n}.txt`, content: n } })) }
  }
  if (said.includes('write')) return call('writeFile', { path: 'a.txt', content: 'Buy tea' })
  const options = [{ value: 'now', label: 'Now' }, { value: 'later', label: 'Later' }]
  if (said.includes('ask')) return call('askUser', { questions: [{ id: 'when', text: 'When?', options }] })
  if (said.includes('plan')) return { text: HOSTILE }
  if (said.includes('without tools')) {
    return {
      parts: [
        { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'tools' }] },
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'I can only talk.' },
        { type: 'text-end', id: 't' },
        { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } }
      ]
    }
  }
  if (said.includes('short')) return steered.promise.then(() => ({ text: 'That is brief.' }))
  if (said.includes('slow')) return { text: 'word '.repeat(3_000), partMs: 10 }
  return { text: `You said ${said.length} characters.` }
}

t.test('the chat', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t, { reply, config: { model: 'test/model', threads: { titles: false } } })
  const { work, visit, gateway } = console

  await visit('a chat with an approval and an undo', async (t, page) => {
    await page.goto('/console/chat')
    await page.getByText('Ask a question').waitFor()
    await say(page, 'write it down')
    const item = page.getByRole('article', { name: /^Write .*\?$/ })
    await item.getByText('A new file').waitFor()
    t.match(new URL(page.url()).pathname, /^\/console\/chat\/./, 'the conversation has an address')
    t.notOk(existsSync(`${work}/a.txt`))
    await page.reload()
    await item.getByText('A new file').waitFor()
    await press(item.getByRole('button', { name: /^Allow/ }))
    await page.getByText('That is done.').waitFor()
    t.equal(readFileSync(`${work}/a.txt`, 'utf8'), 'Buy tea')

    await page.getByRole('button', { name: 'Changed files' }).click()
    await page.getByRole('button', { name: 'Undo…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo 1 change' }).click()
    await page.getByText('1 change was undone.').last().waitFor()
    t.notOk(existsSync(`${work}/a.txt`), 'the file is gone again')
    const undone = page.getByRole('note').filter({ hasText: 'Undone' })
    await undone.waitFor()
    await page.reload()
    await undone.waitFor()
    await page.getByRole('button', { name: 'Changed files' }).click()
    await page.getByText('Done with these changes afterwards: 1').click()
    await page.getByRole('button', { name: 'Take the undo back…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo 1 change' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await undone.waitFor({ state: 'detached' })
    t.ok(existsSync(`${work}/a.txt`))
    rmSync(`${work}/a.txt`)
  })

  await visit('a chat on a copy asks nothing, and its files are applied one by one', async (t, page) => {
    await page.goto('/console/chat')
    await page.getByLabel('How it works').selectOption('On a copy')
    await say(page, 'make three files')
    await page.getByText('That is done.').waitFor()
    t.notOk(existsSync(`${work}/copied`))
    const card = page.getByRole('region', { name: 'Done on a copy.' })
    await card.getByText('4 paths of your folder would change.').waitFor()
    mkdirSync(`${work}/copied`)
    writeFileSync(`${work}/copied/3.txt`, 'mine')
    await card.getByRole('button', { name: 'Look' }).click()
    await page.getByRole('region', { name: 'Changes to files' }).getByRole('button', { name: 'Apply…' }).waitFor()
    await card.getByRole('button', { name: 'Apply…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It was changed in the folder meanwhile.').waitFor()
    t.same(await axe(page), [])
    await dialog.getByLabel('copied/2.txt').uncheck()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.same(readdirSync(`${work}/copied`), ['1.txt', '3.txt'])
    t.equal(readFileSync(`${work}/copied/3.txt`, 'utf8'), 'mine')
    await page.getByRole('button', { name: 'Undo this…' }).first().click()
    await dialog.getByText(`${work}/copied/1.txt`).waitFor()
    await dialog.getByRole('button', { name: 'Undo 1 change' }).click()
    await dialog.waitFor({ state: 'detached' })
    t.same(readdirSync(`${work}/copied`), ['3.txt'], 'what was there stays')
    await page.reload()
    t.equal(await page.getByLabel('How it works').inputValue(), 'copy', 'the conversation stays on its copy')
    await card.getByRole('button', { name: 'Discard…' }).click()
    await dialog.getByRole('button', { name: 'Throw it away' }).click()
    await page.getByText('The copy was thrown away.').waitFor()
    t.same(readdirSync(`${work}/copied`), ['3.txt'])
  })

  await visit('what is typed is rehearsed, accepted and sent', async (t, page) => {
    await page.goto('/console/chat')
    t.equal(await page.getByLabel('How it works').inputValue(), 'ask', 'a new conversation asks')
    await message(page).fill('write the list')
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('of the week') }
    await page.getByLabel('Attach files').first().setInputFiles(file)
    await page.getByRole('button', { name: 'Remove a.txt' }).waitFor()
    while (await page.getByRole('progressbar').count() > 0) continue
    await page.getByLabel('How it works').selectOption('Rehearse')
    await page.getByRole('button', { name: 'Rehearse', exact: true }).click()
    await page.getByText('tried on the copy').waitFor()
    t.match(JSON.stringify(gateway!.requests.at(-1)!.body.prompt), /of the week/, 'with its file')
    t.notOk(existsSync(`${work}/a.txt`))
    await page.getByLabel('Write a file: exactly').check()
    await page.getByRole('button', { name: 'Allow my choice' }).click()
    await page.getByText('Allowed just now').first().waitFor()
    await page.getByRole('link', { name: 'Back to the chat' }).click()
    t.equal(await message(page).inputValue(), 'write the list', 'what was typed is still there')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('That is done.').waitFor()
    t.equal(readFileSync(`${work}/a.txt`, 'utf8'), 'Buy tea')
  }, { expected: /404/ })

  await visit('what the model does not take is said beside its answer, until the next message', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'answer without tools')
    await page.getByText('I can only talk.').waitFor()
    const notice = page.getByRole('status').filter({ hasText: 'This model takes no tools' })
    await notice.waitFor()
    await say(page, 'hello')
    await page.getByText('You said').waitFor()
    t.equal(await notice.count(), 0)
  })

  await visit('questions, another answer and an edited message', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'ask me')
    await page.getByLabel('Later').check()
    await press(page.getByRole('button', { name: 'Send answers' }))
    await page.getByText('That is done.').waitFor()
    const answered = page.getByRole('term').filter({ hasText: 'When?' })
    await answered.waitFor()
    t.equal(await page.getByRole('definition').innerText(), 'Later', 'in the words of its option')
    await page.getByRole('button', { name: 'Branch to a new chat' }).click()
    await page.getByRole('heading', { level: 1, name: 'ask me (branch)' }).waitFor()
    await answered.waitFor()
    await page.getByText('That is done.').waitFor()
    await say(page, 'only in the branch')
    await page.getByText('You said').waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'ask me', exact: true }).waitFor()
    t.equal(await page.getByText('only in the branch').count(), 0, 'the conversation stays as it was')
    await say(page, 'hello')
    await page.getByText('You said').waitFor()
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.getByText('You said').waitFor()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    await message(page).press('ArrowUp')
    while (await message(page).inputValue() !== 'hello') continue
    await message(page).press('Escape')
    await page.getByText('hello', { exact: true }).hover()
    await page.getByRole('button', { name: 'Edit', exact: true }).last().click()
    t.equal(await message(page).inputValue(), 'hello')
    await say(page, 'hello, and a good day to you')
    await page.getByText('hello', { exact: true }).waitFor({ state: 'detached' })
    await page.getByText('That is done.').waitFor()
    const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1)!)
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    const { data } = await getThread({ client: console.agent.client, path: { id }, throwOnError: true })
    t.equal(data.messages.length, 4, 'the service has the edited message and its answer in place of the earlier ones')
    const pages = page.getByRole('group', { name: '2 earlier versions' })
    await pages.getByText('3/3').waitFor()
    t.ok(await pages.getByRole('button', { name: 'Newer version' }).isDisabled())
    await pages.getByRole('button', { name: 'Older version' }).click()
    await page.getByRole('region', { name: 'Version 2 of 3' }).getByText('You said').waitFor()
    await pages.getByRole('button', { name: 'Older version' }).click()
    await pages.getByText('1/3').waitFor()
    const versions = page.getByRole('region', { name: 'Version 1 of 3' })
    t.same(await axe(page), [])
    const context = await page.context().browser()!.newContext({ baseURL: console.url })
    const other = await context.newPage()
    await other.goto(new URL(page.url()).pathname)
    await other.getByText('a good day to you').waitFor()
    await versions.getByText('hello', { exact: true }).waitFor()
    await versions.getByRole('button', { name: 'Go back to this one' }).click()
    await versions.waitFor({ state: 'detached' })
    for (const each of [page, other]) {
      await each.getByText('a good day to you').waitFor({ state: 'detached' })
      await each.getByText('You said').waitFor()
    }
    await other.getByRole('group', { name: '2 earlier versions' }).getByRole('button', { name: 'Older version' }).click()
    await other.getByRole('region', { name: 'Version 2 of 3' }).getByText('hello, and a good day to you').waitFor()
    await context.close()

    const commandId = '01a1fef7-4334-7355-8a31-93bc63563d6b'
    const command = { commandId, command: 'npm start', runId: id, threadId: id, ports: [4000], startedAt: 1 }
    let isStopped = false
    await page.route(/\/commands/, async (route) => {
      if (route.request().method() === 'POST') isStopped = true
      return route.fulfill({ json: isStopped ? { commands: [] } : { commands: [command] } })
    })
    await page.reload()
    await page.getByRole('button', { name: '1 command runs' }).click()
    await page.getByRole('dialog').getByText('npm start').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save this conversation' }).click()
    t.match(readFileSync(await (await saved).path(), 'utf8'), /^# .*\n\n## You\n\nask me\n/)
  })

  await visit('what a model writes is shown and does nothing', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'tell me the plan')
    await page.getByText('Image (not loaded): a pixel').waitFor()
    await page.getByText('⟨U+202E⟩').waitFor()
    await page.getByRole('heading', { name: 'tell me the plan' }).waitFor()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    t.equal(await page.title(), 'tell me the plan – Local agent')
    const links = await page.locator('.messages a[href]:not(.button)').all()
    t.same(
      await Promise.all(links.map((link) => link.getAttribute('href'))),
      ['https://evil.example/x.png', 'https://example.com/'],
      'only addresses of the web are links'
    )
    t.same(await axe(page), [])
    const sizes = await page.locator('.messages .markdown :is(p, h3, h4, h5)').evaluateAll((all: any[]) => all.map((element) =>
      `${element.tagName} ${Math.round(parseFloat((globalThis as any).getComputedStyle(element).fontSize))}`))
    t.same([...new Set(sizes)].sort(), ['H3 22', 'H4 19', 'H5 16', 'P 16'], 'text to read is large, and headings have sizes of their own')
    const text = (await page.locator('.messages .markdown p').first().boundingBox())!
    t.ok(text.width <= 720, `a line is ${text.width} px`)
    await page.setViewportSize({ width: 360, height: 740 })
    await page.emulateMedia({ colorScheme: 'dark' })
    t.same(await axe(page), [])
    await page.getByRole('button', { name: 'Conversations' }).click()
    t.same(await axe(page), [])
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'nothing is wider than the screen')
  }, { colorScheme: 'light' })

  await visit('a run goes on over a reload and is told something, and a killed service comes back under the page', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'slow, please')
    await page.getByText('word word word').waitFor()
    await page.reload()
    await page.getByText('word word word').waitFor()
    await steer(page, 'slow is fine')
    await page.locator('.said', { hasText: 'slow is fine' }).getByText('Waits for the agent').waitFor()
    await message(page).fill('a thought of mine')
    await console.service().stop('SIGKILL')
    await page.getByText('The connection to the service was lost.').waitFor()
    await console.restart()
    await page.getByText('The service ended during this answer.').waitFor()
    t.equal(await message(page).inputValue(), 'a thought of mine', 'what was typed is kept')
    await page.locator('.said', { hasText: 'slow is fine' }).getByText('Not read by the agent').waitFor()
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await message(page).press('Escape')
    await page.getByText('This answer was stopped.').waitFor()
  }, { expected: /Failed to load resource/ })

  await visit('what is said while the agent works stands where it is read, and is offered again where it is not', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'in short')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await steer(page, 'with tea')
    await page.getByText('Waits for the agent').waitFor()
    steered.resolve()
    await page.getByText('You said').waitFor()
    const read = page.locator('.said', { hasText: 'with tea' })
    await read.getByText('Sent while working').waitFor()
    await page.reload()
    await read.getByText('Sent while working').waitFor()
    t.equal(await read.count(), 1)

    await say(page, 'slow, please')
    await page.getByText('word word word').waitFor()
    await steer(page, 'turn left')
    await page.getByText('Waits for the agent').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Send it again, or change it.').waitFor()
    t.equal(await message(page).inputValue(), 'turn left')
    await message(page).press('Enter')
    await page.getByText('You said').nth(1).waitFor()
    await page.getByText('Not read by the agent').waitFor({ state: 'detached' })
    t.equal(await page.locator('.said', { hasText: 'turn left' }).count(), 1)
    t.same(await axe(page), [])
  })

  await visit('servers and tools are switched off for one conversation, which keeps it', async (t, page) => {
    const asked = { client: console.agent.client, throwOnError: true } as const
    const told = (): string[] =>
      gateway!.requests.findLast(({ body }) => body?.tools)!.body.tools.map(({ name }: { name: string }) => name)
    await page.goto('/console/chat')
    t.equal(await page.getByRole('button', { name: 'Tools' }).count(), 0, 'there is no switch without a server')
    for (const name of ['odd', 'other']) await connectToolServer({ ...asked, body: misbehaving(name) })
    await page.reload()
    await page.getByRole('button', { name: 'Tools', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('switch', { name: 'other' }).click()
    await dialog.getByText(/^\d+ tools$/).first().click()
    await dialog.getByRole('switch', { name: 'env', exact: true }).first().click()
    t.same(await axe(page), [])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Tools (2 off)' }).waitFor()
    await say(page, 'count with few tools')
    await page.getByText('You said').waitFor()
    t.ok(told().includes('echo') && !told().includes('env') && !told().includes('other_echo'), told().join())

    await page.waitForURL(/chat\/./)
    const id = page.url().split('/').at(-1)!
    const settings = async () => (await getThread({ ...asked, path: { id } })).data.settings
    while ((await settings()) === undefined) await page.waitForTimeout(20)
    t.same(await settings(), { options: { denyTools: ['server:other', 'odd_env'] } })
    await page.reload()
    await page.getByRole('button', { name: 'Tools (2 off)' }).click()
    t.notOk(await dialog.getByRole('switch', { name: 'other' }).isChecked())
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await dialog.getByRole('switch', { name: 'other' }).click()
    await saved
    await disconnectToolServer({ ...asked, path: { name: 'odd' } })
    await dialog.getByText('Also off').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await say(page, 'and again')
    await page.getByText('You said').nth(1).waitFor()
    t.ok(told().includes('other_echo'), 'what is gone is no hindrance')
    await page.getByRole('button', { name: 'Tools (1 off)' }).click()
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByText('Also off').waitFor({ state: 'detached' })
    await disconnectToolServer({ ...asked, path: { name: 'other' } })
  })

  await visit('conversations are grouped by folder, found, renamed and deleted; what is pinned is listed, however old', async (t, page) => {
    const put = (id: string, more: object) => putThread({ client: console.agent.client, path: { id }, body: { title: id, ...more } })
    await put('An old one', { pinned: true })
    await put('In a folder', { settings: { cwd: console.work } })
    for (let n = 0; n < 50; n++) await put(`Newer ${n}`, { messages: [{ role: 'user', content: 'tea' }] })
    await page.goto('/console/chat')
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await list.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'An old one' }).waitFor()
    await list.getByRole('button', { name: 'Show more' }).click()
    await list.getByRole('button', { name: 'Group by folder' }).click()
    await list.getByRole('region', { name: console.work }).getByRole('link', { name: 'In a folder' }).waitFor()
    await list.getByRole('region', { name: 'Usual folder' }).getByRole('link', { name: 'Newer 49' }).waitFor()
    await list.getByRole('button', { name: 'Group by folder', pressed: true }).click()
    await list.getByRole('link', { name: 'tell me the plan' }).waitFor()
    await list.getByRole('searchbox').fill('THE PLAN')
    await list.getByRole('link', { name: 'write it down' }).waitFor({ state: 'detached' })
    await list.getByRole('link', { name: 'tell me the plan' }).first().click()
    await list.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('The plan of tea')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'The plan of tea' }).waitFor()
    await list.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the conversation' }).click()
    await list.getByText('No conversation has “THE PLAN”').waitFor()
    t.equal(new URL(page.url()).pathname, '/console/chat')
  })

  await visit('what was said long ago is found, and its conversation opens there', async (t, page) => {
    const held = `${'Much was said before. \n\n'.repeat(40)}The Übergang is at the old pier.`
    const messages = Array.from({ length: 300 }, (_, n) => ({
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: n === 31 ? held : `Message ${n}. ${'and so on '.repeat(n % 70)}`
    }))
    await putThread({ client: console.agent.client, path: { id: 'long' }, body: { title: 'A long talk', messages } })
    await page.goto('/console/chat')
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await list.getByRole('searchbox').fill('ubergang pie')
    const result = list.getByRole('link', { name: 'The Übergang is at the old pier.' })
    await result.waitFor()
    t.same(await result.locator('mark').allTextContents(), ['Übergang', 'pier'])
    await result.click()
    const area = page.getByRole('region', { name: 'Messages' })
    const text = area.getByText('The Übergang is at the old pier.')
    const isInView = async () => {
      const [outer, inner] = await Promise.all([area.boundingBox(), text.boundingBox()])
      return inner !== null && inner.y >= outer!.y && inner.y + inner.height <= outer!.y + outer!.height
    }
    for (let looks = 0; looks < 100 && !await isInView().catch(() => false); looks++) await page.waitForTimeout(50)
    await page.waitForTimeout(500)
    t.ok(await isInView(), 'it is in view, and stays there')
    t.same(await axe(page), [])
    await area.hover()
    await page.mouse.wheel(0, -400)
    await page.waitForTimeout(300)
    t.notOk(await isInView(), 'until the reader scrolls')
    await result.click()
    for (let looks = 0; looks < 100 && !await isInView().catch(() => false); looks++) await page.waitForTimeout(50)
    t.ok(await isInView(), 'it is opened again')
  })
})
