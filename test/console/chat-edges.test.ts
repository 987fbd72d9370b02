import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { connectToolServer, type ConnectBody, getThread, listThreads, putAgent } from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, message, openConsole, overlaps, press, say, SCREENS, showOn, steer } from '../harness/console.ts'
import { noting } from '../harness/mcp.ts'

const NOTES = 'Tea comes from China[^origin], see [the page][page]. More tea[^2].\n\nAnd `x[^origin]`, again[^origin].\n\n' +
  '[page]: https://example.com/tea\n\n[^origin]: Says **everyone**, at [home](https://example.com/home).\n\n[^2]: Every day.'

/** 5,000 lines, of which each 25th ends with a word. */
const listOf = (word: string) => Array.from({ length: 5_000 }, (_, n) => `line ${n} is ${n % 25 === 3 ? word : 'as it was'}\n`).join('')

/** The model does what the last message of the user says; behind it stands the list of the denied calls, which is nobody's words. */
function reply ({ body }: GatewayRequest): Plan {
  const last = body.prompt.findLast(({ content }: any) => content[0].text?.startsWith('[Not written by the user.') !== true)
  if (last.role === 'tool') return { text: 'That is done.' }
  const said = JSON.stringify(last.content)
  if (said.includes('has chosen')) return { text: `You said ${said.length} characters.` }
  const write = (name: string) => ({ toolName: 'writeFile', input: { path: `${name}.txt`, content: 'Buy tea' } })
  if (said.includes('two')) return { text: 'I write two files.', toolCalls: [write('first'), write('second')] }
  if (said.includes('long list')) return { toolCalls: [{ toolName: 'writeFile', input: { path: 'list.txt', content: listOf('there') } }] }
  if (said.includes('third')) return { text: 'I write another.', toolCalls: [write('third')] }
  if (said.includes('ask')) return { toolCalls: [{ toolName: 'askUser', input: { questions: [{ id: 'when', text: 'When?' }] } }] }
  if (said.includes('look around')) return { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
  if (said.includes('slow')) return { text: 'word '.repeat(2_000), partMs: 10 }
  if (said.includes('notes')) return { text: NOTES }
  return { text: `You said ${said.length} characters.` }
}

const focused = (page: Page) => page.evaluate<string>(`(({ activeElement }) =>
  activeElement.closest('article')?.innerText ?? activeElement.closest('form')?.className ?? activeElement.tagName)(document)`)

t.test('the edges of the chat', { skip: noBrowser }, async (t) => {
  const skill = '---\ndescription: Writes the notes of a release.\n---\nLook at the log.\n'
  const console = await openConsole(t, { reply, work: { '.agents': { skills: { minutes: { 'SKILL.md': skill } } } } })
  const { work, visit, agent } = console
  const asked = { client: agent.client, throwOnError: true } as const

  await visit('after each decision by keyboard the focus is on what comes next, and no row lies on another', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'write two files')
    const items = page.getByRole('article')
    const open = page.locator('[data-open]')
    const decide = (name: string) => press(open.first().getByRole('button', { name, exact: true }), 'Enter')
    await items.nth(1).waitFor()
    t.same(await overlaps(page), [])
    await decide('Allow once')
    await items.nth(1).waitFor({ state: 'detached' })
    t.match(await focused(page), /second\.txt/, 'the other request')
    t.same(await overlaps(page), [])
    await decide('Don’t allow')
    await page.getByText('That is done.').waitFor()
    t.equal(await focused(page), 'composer', 'nothing else waits')
    t.same(await overlaps(page), [])
    t.same(['first', 'second'].map((name) => existsSync(`${work}/${name}.txt`)), [true, false])
    const calls = page.locator('.call summary')
    await calls.getByText('Not run: denied').waitFor()
    await calls.getByText('Completed').waitFor()
    const [done, denied] = await calls.allInnerTexts()
    t.match(done, /^\s*Completed\s+Write a file\s+first\.txt/)
    t.match(denied, /^\s*Not run: denied\s+Write a file\s+second\.txt/)
    t.same(await axe(page), [])

    await say(page, 'a third one')
    await open.first().waitFor()
    t.same(await overlaps(page), [])
    await steer(page, 'rather not')
    await page.locator('.composer').getByText('The agent gets this at its next step.').waitFor()
    t.equal(await open.count(), 1, 'what is said while it waits takes nothing back')
    await decide('Don’t allow')
    await page.getByText('You said').waitFor()
    await calls.nth(2).getByText('Not run').waitFor()
    t.notOk(existsSync(`${work}/third.txt`))
    t.same(await overlaps(page), [])

    await say(page, 'ask me')
    await page.getByRole('article').getByRole('textbox').fill('Now')
    await press(page.getByRole('button', { name: 'Send answers' }), 'Enter')
    await page.getByText('That is done.').nth(1).waitFor()
    t.same(await overlaps(page), [])
  })

  await visit('a call says that it was decided only when it was', async (t, page) => {
    const read = Promise.withResolvers<void>()
    await page.route(/\/approvals\?/, (route) => read.promise.then(() => route.continue()))
    await page.goto('/console/chat')
    await say(page, 'write two files')
    const states = page.locator('.call .status')
    await states.getByText('Waiting for you', { exact: true }).nth(1).waitFor()
    read.resolve()
    const items = page.getByRole('article')
    await items.nth(1).waitFor()
    await press(items.first().getByRole('button', { name: 'Don’t allow', exact: true }))
    await states.getByText('Decided, waiting for your other decision').waitFor()
    await page.reload()
    await states.getByText('Decided, waiting for your other decision').waitFor()
    t.equal(await states.count(), 1, 'the other call is a request')
    await press(items.getByRole('button', { name: 'Don’t allow', exact: true }))
    await states.getByText('Not run: denied').nth(1).waitFor()
  })

  await visit('the difference of 5,000 lines is read in a worker, and shows each change with its word marked', async (t, page) => {
    writeFileSync(`${work}/list.txt`, listOf('here'))
    await page.goto('/console/chat')
    await say(page, 'change the long list')
    const item = page.getByRole('article')
    await item.getByText('Lines added: 200, removed: 200').last().waitFor()
    t.ok(page.workers().some((worker) => /diff-worker/.test(worker.url())))
    await item.getByRole('button', { name: /^Show all/ }).click()
    const marks = await item.locator('mark').allTextContents()
    t.same(marks, Array.from({ length: 400 }, (_, n) => n % 2 === 0 ? 'here' : 'there'))
    await press(item.getByRole('button', { name: 'Don’t allow' }))
    await item.waitFor({ state: 'detached' })
  })

  await visit('one question decides what becomes of the files that replaced answers changed', async (t, page) => {
    const file = `${work}/third.txt`
    const allow = () => press(page.getByRole('article', { name: /^Write .*\?$/ }).getByRole('button', { name: /^Allow/ }))
    const question = page.getByRole('dialog', { name: 'Also undo the 1 file that these answers changed?' })
    const edit = async (text: string, to: string) => {
      await page.locator('.row-said').getByText(text, { exact: true }).hover()
      await page.getByRole('button', { name: 'Edit', exact: true }).last().click()
      await say(page, to)
    }
    rmSync(file, { force: true })
    await page.goto('/console/chat')
    await say(page, 'write a third')
    await allow()
    await page.getByText('That is done.').waitFor()

    await edit('write a third', 'only talk')
    await question.getByText(file).waitFor()
    t.same(await axe(page), [])
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    t.equal(await message(page).inputValue(), 'only talk', 'the edit is open again, with what was typed')
    await page.getByText('That is done.').waitFor()
    await message(page).press('Escape')
    await page.locator('.row-said').getByText('write a third', { exact: true }).waitFor()
    t.equal(readFileSync(file, 'utf8'), 'Buy tea')

    await page.getByRole('button', { name: 'Answer again' }).click()
    await question.getByRole('button', { name: 'Undo and answer again' }).click()
    await page.getByText('Before this answer, 1 file was put back as it was.').waitFor()
    await page.getByText('A new file').waitFor()
    t.notOk(existsSync(file))
    await allow()
    await page.getByText('That is done.').waitFor()

    await edit('write a third', 'only talk')
    await question.getByRole('button', { name: 'Keep the files' }).click()
    await page.getByText('You said').waitFor()
    t.equal(readFileSync(file, 'utf8'), 'Buy tea')
    t.equal(await page.getByText('Before this answer').count(), 0)
    rmSync(file)
    await edit('only talk', 'write a third once more')
    await press(page.getByRole('article', { name: /\?$/ }).getByRole('button', { name: /^Allow/ }))
    await page.getByText('That is done.').waitFor()

    await message(page).press('ArrowUp')
    while (await message(page).inputValue() !== 'write a third once more') continue
    await say(page, 'never mind')
    await question.getByRole('button', { name: 'Undo and edit' }).click()
    await page.getByText('Before this answer, 1 file was put back as it was.').waitFor()
    await page.getByText('You said').waitFor()
    await page.reload()
    await page.getByText('Before this answer, 1 file was put back as it was.').waitFor()
  }, { expected: /409/ })

  await visit('a run that has spent its budget asks in its chat, and goes on by one press', async (t, page) => {
    const { threadId } = await agent.run({ prompt: 'look around', options: { interactive: true, budget: { tokens: 10 } } }).result()
    await page.goto(`/console/chat/${threadId}`)
    const item = page.getByRole('article', { name: 'The budget is used up' })
    await item.getByText(/^This run has used [\d,]+ of 10 tokens\. Go on with 10 tokens more\?$/).waitFor()
    t.same(await axe(page), [])
    await press(item.getByRole('button', { name: 'Go on with 10 tokens more' }), 'Enter')
    await page.getByText('That is done.').waitFor()
    await item.waitFor({ state: 'detached' })
  })

  await visit('unread words are offered again: others take their place, and a run that goes on reads them', async (t, page) => {
    const { gateway } = console
    await page.goto('/console/chat')
    const stopUnread = async (text: string) => {
      await say(page, 'a third one')
      await page.locator('[data-open]').waitFor()
      await steer(page, text)
      await page.locator('.composer').getByText('The agent gets this at its next step.').waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('The agent had stopped before it read this.').waitFor()
      t.equal(await message(page).inputValue(), text)
    }
    const said = () => JSON.stringify(gateway!.requests.at(-1)!.body.prompt)
    await stopUnread('turn left')
    await message(page).fill('go straight on')
    await page.reload()
    await message(page).and(page.locator(':not(:placeholder-shown)')).waitFor()
    await message(page).press('Enter')
    await page.getByText('You said').waitFor()
    t.notMatch(said(), /turn left/)
    t.match(said(), /go straight on/)
    t.equal(await page.getByText('turn left').count(), 0)

    await stopUnread('turn right')
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('You said').nth(1).waitFor()
    t.match(said(), /turn right/)
    t.equal(await message(page).inputValue(), '', 'it is not said twice')
    // The preview of an approval that is withdrawn meanwhile, or gone with the turn that is replaced.
  }, { expected: /status of 4(04|09).*\/preview$/ })

  await visit('a conversation that was deleted is gone, in this tab and another', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'hello')
    await page.getByText('You said').waitFor()
    const address = new URL(page.url()).pathname
    const other = await page.context().newPage()
    await other.goto(address)
    await other.getByText('You said').waitFor()
    await other.getByRole('textbox', { name: 'Message', exact: true }).fill('what is typed here')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the conversation' }).click()
    await page.getByText('Ask a question').waitFor()
    t.equal(new URL(page.url()).pathname, '/console/chat')
    t.equal(await page.getByText('You said').count(), 0)
    for (const tab of [page, other]) {
      const list = tab.getByRole('complementary', { name: 'Conversations' })
      await list.getByRole('link', { name: 'hello', exact: true }).waitFor({ state: 'detached' })
    }
    await other.getByText('This conversation was deleted.').waitFor()
    t.equal(await other.getByText('You said').count(), 0)

    const deleted = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Bring back' }) })
    await deleted.filter({ hasText: 'hello' }).getByRole('button').click()
    await page.getByText('You said').waitFor()
    t.equal(new URL(page.url()).pathname, address)
    await page.getByRole('button', { name: 'Pin' }).click()
    await page.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'hello', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the conversation' }).click()
    await other.getByText('This conversation was deleted.').waitFor()
    await other.locator('.empty').getByRole('button', { name: 'New conversation' }).click()
    await say(other, 'hello again')
    await other.getByText('You said').waitFor()
    t.same((await listThreads(asked)).data.threads.filter(({ id }) => address.endsWith(id)), [])
  })

  await visit('a message that was sent while the service was away comes back, in a new conversation too', async (t, page) => {
    await page.goto('/console/chat')
    for (const when of ['a new conversation', 'one that is stored']) {
      await page.getByRole('button', { name: 'Send' }).waitFor()
      await console.service().stop('SIGKILL')
      await page.locator('.connection').waitFor()
      await say(page, `hello in ${when}`)
      await page.getByText('The service cannot be reached.').waitFor()
      if (when === 'a new conversation') {
        await page.reload().catch(() => {})
        await console.restart()
        await page.goto('/console/chat')
      } else {
        await message(page).fill('typed meanwhile')
        await console.restart()
        await page.getByText('The service did not get this message.').waitFor()
      }
      await message(page).and(page.locator(':not(:placeholder-shown)')).waitFor()
      t.equal(await message(page).inputValue(), `hello in ${when}${when === 'a new conversation' ? '' : '\n\ntyped meanwhile'}`)
      await message(page).press('Enter')
      await page.getByText('You said').nth(when === 'a new conversation' ? 0 : 1).waitFor()
      t.equal(await message(page).inputValue(), '')
      await page.reload()
      await page.getByText('You said').first().waitFor()
      t.equal(await message(page).inputValue(), '', 'what has arrived does not come back')
    }
    const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1)!)
    const { messages } = (await getThread({ ...asked, path: { id } })).data
    t.match(messages.flatMap(({ role, parts }: any) => role === 'user' ? parts[0].text : []), [
      'hello in a new conversation',
      'hello in one that is stored\n\ntyped meanwhile'
    ])

    await page.goto('/console/chat')
    await message(page).fill('never sent twice')
    await console.service().stop('SIGKILL')
    await page.locator('.connection').waitFor()
    await message(page).press('Enter')
    await page.getByText('The service cannot be reached.').waitFor()
    await console.restart()
    await page.getByText('The service did not get this message.').waitFor()
    await message(page).press('Enter')
    await page.getByText('You said').waitFor()
    t.equal(await page.locator('.said').count(), 1)
  }, { expected: /ERR_CONNECTION|Failed to load|ERR_INCOMPLETE/ })

  await visit('a slash offers prompts and skills, by keys and by touch, which go with the message and stay with it', async (t, page) => {
    await connectToolServer({ ...asked, body: noting(['--prompts']) as ConnectBody })
    const told = () => console.gateway!.requests.at(-1)!.body.prompt.findLast(({ role }: any) => role === 'user').content
    const list = page.getByRole('listbox', { name: 'Prompts and skills' })
    const option = (name: RegExp) => list.getByRole('option', { name })
    const chips = page.getByRole('list', { name: 'Goes with the message' }).getByRole('listitem')
    await page.goto('/console/chat')
    await message(page).pressSequentially('/')
    await option(/minutes/).waitFor()
    const offered = await list.getByRole('option').allInnerTexts()
    t.match(offered, [/^minutes\s+Skill\s+Writes the notes/, /^A title\s+Prompt of noting\s+Reviews/, /^broken/])
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
    }
    await page.keyboard.press('ArrowDown')
    t.match(await message(page).getAttribute('aria-activedescendant'), await option(/A title/).getAttribute('id'))
    await page.keyboard.press('Escape')
    await option(/minutes/).waitFor({ state: 'detached' })
    t.equal(await message(page).inputValue(), '/', 'Escape takes nothing away')
    await message(page).pressSequentially('rev')
    await option(/A title/).waitFor()
    t.equal(await list.getByRole('option').count(), 1)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'A title' })
    await dialog.getByRole('button', { name: 'Use it' }).click()
    t.equal(await chips.count(), 0, 'what is required is asked for')
    t.same(await axe(page), [])
    await dialog.getByRole('textbox', { name: 'File' }).fill('cart.js')
    await page.keyboard.press('Enter')
    await chips.filter({ hasText: 'Prompt: review of noting · file: cart.js' }).waitFor()
    await page.getByRole('button', { name: 'Prompts and skills' }).click()
    await option(/minutes/).tap()
    await chips.filter({ hasText: 'Skill: minutes' }).waitFor()
    await page.reload()
    await chips.nth(1).waitFor()
    await message(page).pressSequentially('/etc/hosts is one')
    t.equal(await list.count(), 0, 'a path is typed in peace')
    await page.keyboard.press('Enter')
    await page.getByText('You said').waitFor()
    t.match(told().slice(1), [{ text: /prompt "review"/ }, { text: /skill "minutes"/ }, { text: '/etc/hosts is one' }])
    t.equal(await chips.count(), 0)
    const words = page.locator('summary', { hasText: 'Prompt: review of noting' })
    await words.click()
    await page.getByText('Review cart.js.').waitFor()
    await page.reload()
    await words.waitFor()
    t.equal(await page.getByText('The service did not get this message.').count(), 0)
    await page.getByRole('heading', { name: '/etc/hosts is one' }).waitFor()
    t.same(await overlaps(page), [])

    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await chips.nth(1).waitFor()
    t.equal(await message(page).inputValue(), '/etc/hosts is one')
    await page.getByRole('button', { name: 'Remove Skill: minutes' }).click()
    await message(page).fill('another one')
    await page.keyboard.press('Enter')
    await page.getByText('/etc/hosts').first().waitFor({ state: 'detached' })
    await page.getByText('You said').waitFor()
    t.match(told().slice(1), [{ text: /prompt "review"/ }, { text: 'another one' }])
    await page.getByRole('button', { name: 'Answer again' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    t.match(told().slice(1), [{ text: /prompt "review"/ }, { text: 'another one' }], 'it stays for another answer')
  }, { hasTouch: true })

  await visit('each answer names its model and effort, also after a reload; one that streams has a cursor', async (t, page) => {
    const facts = page.locator('.answer-facts')
    const cursor = () => page.locator('.row-written p').evaluate((node) =>
      (globalThis as any).getComputedStyle(node, '::after').animationName)
    await page.goto('/console/chat')
    await page.getByLabel('How much the model thinks').selectOption('Thinking: high')
    await say(page, 'hello')
    await facts.waitFor()
    const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1)!)
    await putAgent({ ...asked, path: { name: 'third' }, body: { options: { model: 'test/third' } } })
    const options = { model: 'test/another', effort: 'provider-default' } as const
    await agent.run({ prompt: 'from an app', id, options }).result()
    await agent.run({ prompt: 'by an agent', id, options: { agent: 'third' } }).result()
    const said = ['Answered by model · Thinking: high', 'Answered by another', 'Answered by third · Thinking: high']
    await facts.nth(2).waitFor()
    t.same(await facts.allTextContents(), said)
    await page.reload()
    await facts.nth(2).waitFor()
    t.same(await facts.allTextContents(), said)
    t.match(await facts.first().getAttribute('title'), /^test\/model · \d+ tokens read, \d+ written$/)

    await say(page, 'slow, please')
    await page.getByText('word word word').waitFor()
    t.equal(await cursor(), 'pulse')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    t.equal(await cursor(), 'none', 'it stands still')
    await steer(page, 'x'.repeat(20_001))
    await page.getByText('too long to say while the agent works').waitFor()
    t.equal((await message(page).inputValue()).length, 20_001, 'nothing of it is cut off')
    await message(page).fill('')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.row-written').waitFor({ state: 'detached' })
    await facts.nth(3).waitFor()
  }, { reducedMotion: 'no-preference' })

  await visit('footnotes are numbered, open where they are mentioned, and stand at the end', async (t, page) => {
    await page.goto('/console/chat')
    await say(page, 'notes, please')
    const answer = page.getByRole('region', { name: 'Messages' })
    await answer.getByText('Tea comes from China').waitFor()
    t.same(await Promise.all((await answer.locator('a[target]').all()).map((link) => link.getAttribute('href'))), [
      'https://example.com/tea',
      'https://example.com/home'
    ])
    const notes = answer.getByRole('region', { name: 'Footnotes' })
    t.match(await notes.getByRole('note').allInnerTexts(), [/^1\.\s+Says everyone, at home\.$/, /^2\.\s+Every day\.$/])
    const mentions = answer.getByRole('button', { name: 'Footnote' })
    t.same(await mentions.allInnerTexts(), ['1', '2', '1'])
    await mentions.nth(1).press('Enter')
    t.equal(await answer.getByText('Every day.').count(), 2)
    await mentions.nth(1).press('Enter')
    t.equal(await answer.getByText('Every day.').count(), 1)
    t.notMatch(await answer.innerText(), /\]:|China\[/)
    t.same(await axe(page), [])
    t.same(await overlaps(page), [])
  })
})
