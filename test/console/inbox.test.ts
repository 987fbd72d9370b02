import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Locator } from 'playwright-core'
import t from 'tap'
import {
  connectToolServer,
  createTask,
  deleteTask,
  getTask,
  listApprovals,
  listGrants,
  listNotifications,
  listRuns,
  runTask,
  startTask,
  taskDigest
} from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { noBrowser } from '../harness/browser.ts'
import { openConsole, press } from '../harness/console.ts'
import { misbehaving } from '../harness/mcp.ts'
import { FORMAT } from '../harness/questions.ts'

/** What the model does at the first step of each prompt; the step after that ends the run. */
const PLANS: Record<string, Plan> = {
  write: { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'one\n2\n' } }] },
  correct: { toolCalls: [{ toolName: 'writeFile', input: { path: 'wrong.txt', content: 'text' } }] },
  'correct the edit': { toolCalls: [{ toolName: 'editFile', input: { path: 'right.txt', edits: [{ oldText: 'te', newText: 'Te' }] } }] },
  delete: { toolCalls: [{ toolName: 'deleteFile', input: { path: 'a.txt' } }] },
  'write two': {
    toolCalls: ['b.txt', 'c.txt'].map((path) => ({ toolName: 'writeFile', input: { path, content: path } }))
  },
  'write fifty': {
    toolCalls: Array.from({ length: 50 }, (_, n) =>
      ({ toolName: 'writeFile', input: { path: `notes/${n}.${n < 44 ? 'md' : 'log'}`, content: `${n}` } }))
  },
  ask: { toolCalls: [{ toolName: 'askUser', input: { questions: [FORMAT, { id: 'title', text: 'Which title?' }] } }] },
  book: {
    toolCalls: [{
      toolName: 'ask',
      input: {
        message: 'Whose booking is it?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Your name' } } }
      }
    }]
  }
}

/** What the runs of one task do, each in its turn: the first finds something, the others nothing. */
const LOOKS: Plan[] = [
  { toolCalls: [{ toolName: 'writeFile', input: { path: 'found.txt', content: 'a letter' } }] },
  { text: 'Nothing new.' },
  { text: 'Nothing new.' }
]

function structured ({ structured, body }: GatewayRequest): Plan | undefined {
  if (structured !== 'evaluation' || !JSON.stringify(body.prompt).includes('Nothing new.')) return undefined
  return { object: { outcome: 'nothing_to_do', claims: [], satisfied: true, score: 1, issues: [] } }
}

function reply ({ body: { prompt } }: GatewayRequest): Plan {
  const last = prompt.at(-1)
  if (last.role !== 'user') return { text: 'Done.' }
  const [{ text }] = last.content
  return (text === 'look' ? LOOKS.shift() : PLANS[text]) ?? { text: 'Done.' }
}

t.test('the inbox', { skip: noBrowser }, async (t) => {
  const { agent, work, gateway, visit } = await openConsole(t, {
    reply,
    structured,
    config: { mcp: [misbehaving('travel', [], { approval: 'never' })] },
    work: { 'a.txt': 'one\ntwo\n' }
  })
  const ask = (prompt: string) => agent.run({ prompt, options: { interactive: true } }).result()
  const waiting = async () => (await listApprovals({ client: agent.client, throwOnError: true })).data.approvals
  const { data: task } = await createTask({
    client: agent.client,
    throwOnError: true,
    body: { goal: 'water the plants', approval: { mode: 'never' } }
  })
  await startTask({ client: agent.client, throwOnError: true, path: { id: task.id } })
  /** Resolves when no run goes on: what a decision allows is done after it. */
  async function ended (): Promise<void> {
    while ((await listRuns({ client: agent.client, throwOnError: true, query: { status: 'running' } })).data.runs.length > 0) continue
  }
  const told = () => JSON.stringify(gateway!.requests.at(-1)!.body.prompt.at(-1))

  await visit('what waits is shown by the browser, once for all tabs, and counted in the title', async (t, page) => {
    await page.addInitScript({
      content: `window.shown = []
        window.Notification = class {
          static permission = 'granted'
          constructor (title) { window.shown.push(title) }
          close () { window.shown.push('closed') }
        }`
    })
    await page.goto('/console')
    await page.getByText('Nothing waits for you.').waitFor()
    const { data: asking } = await createTask({
      client: agent.client,
      throwOnError: true,
      body: { goal: 'write', approval: { mode: 'always' }, plan: { phases: [{ description: 'write' }] } }
    })
    await startTask({ client: agent.client, throwOnError: true, path: { id: asking.id } })
    const shown = (): Promise<string[]> => page.evaluate('shown')
    while ((await shown()).length < 1 || !(await page.title()).startsWith('(1) Inbox')) continue
    t.same(await shown(), ['A task waits for the approval of a call'])
    const { data: { notifications: [told] } } = await listNotifications({ client: agent.client, throwOnError: true })
    t.equal(told.needsShowing, false, 'the page has said that it shows it')
    // The item has read its task and its preview; once both are gone, nobody asks for them again.
    const item = page.getByRole('article')
    await item.getByRole('link', { name: 'write' }).waitFor()
    await item.locator('del', { hasText: '-two' }).waitFor()
    t.match(await item.getByText('Why it asks').locator('..').innerText(), /This tool can change files/, 'it says why it asks')
    const reads = page.waitForResponse((response) => new URL(response.url()).pathname === '/tasks/digest')
    await deleteTask({ client: agent.client, throwOnError: true, path: { id: asking.id } })
    while ((await shown()).length < 2 || !(await page.title()).startsWith('Inbox')) continue
    t.equal((await shown())[1], 'closed')
    await page.getByText('Nothing waits for you.').waitFor()
    await reads
  })

  await visit('a browser that lets no page make notifications, as those of Android, is not asked to permit them', async (t, page) => {
    const notification = (constructor: string) => ({
      content: `window.Notification = class { static permission = 'default'; constructor () { ${constructor} } }`
    })
    const ask = page.getByRole('button', { name: 'Tell me when something waits' })
    await page.addInitScript(notification(''))
    await page.goto('/console')
    await ask.waitFor()
    await page.addInitScript(notification("throw new TypeError('Illegal constructor')"))
    await page.reload()
    await page.getByText('Nothing waits for you.').waitFor()
    t.equal(await ask.count(), 0)
  })

  await visit('an item comes without a reload, shows its folder and a diff, and is approved with a scope', async (t, page) => {
    await page.goto('/console')
    await page.getByText('Nothing waits for you.').waitFor()
    await ask('write')
    const item = page.getByRole('article', { name: /^Write .*\?$/ })
    await item.getByText(`${work}/a.txt`, { exact: true }).waitFor()
    await item.locator('del', { hasText: '-two' }).waitFor()
    await item.locator('ins', { hasText: '+2' }).waitFor()
    t.equal((await item.innerText()).split('a.txt').length - 1, 2, 'its name is in the title, and its path in full once')
    await item.locator('summary', { hasText: 'All details of the call' }).click()
    await item.getByText(work, { exact: true }).waitFor()
    await item.locator('summary', { hasText: 'Next time:' }).click()
    await item.getByRole('radio', { name: 'files in or below' }).check()
    await item.getByText('This holds in this conversation or task alone.').waitFor()
    await item.getByRole('combobox').selectOption('for the next 10 calls')
    await press(item.getByRole('button', { name: /^Allow/ }))
    await page.getByText('Nothing waits for you.').waitFor()
    await ended()
    t.equal(readFileSync(`${work}/a.txt`, 'utf8'), 'one\n2\n')
    const { data: { grants } } = await listGrants({ client: agent.client, throwOnError: true })
    t.match(grants, [{ toolName: 'writeFile', scope: 'folder', until: { uses: 10 } }])
  })

  await visit('neither a click at what has just moved, nor a held or an early key decides anything', async (t, page) => {
    await ask('delete')
    await page.clock.install()
    await page.goto('/console')
    await page.getByText(`${work}/a.txt`, { exact: true }).waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    const approve = page.getByRole('button', { name: /^Allow/ })
    const early = page.getByText('Not sent')

    await page.locator('summary', { hasText: 'Next time:' }).click()
    await approve.click()
    await early.waitFor()
    await page.getByRole('textbox').focus()
    await page.clock.runFor(600)
    await approve.focus()
    await page.keyboard.press('Enter')
    await early.waitFor()
    await page.clock.runFor(600)
    await page.getByRole('textbox').focus()
    await page.keyboard.down('Enter')
    await approve.focus()
    await page.clock.runFor(600)
    for (let times = 0; times < 5; times++) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    t.match(await waiting(), [{ toolName: 'deleteFile' }])
    t.ok(existsSync(`${work}/a.txt`))

    await page.getByRole('textbox').fill('not today')
    await page.getByRole('button', { name: 'Don’t allow' }).focus()
    await page.clock.runFor(600)
    await page.keyboard.press('Enter')
    await page.clock.resume()
    await page.getByText('Denied.').or(page.getByText('Nothing waits')).first().waitFor()
    await ended()
    t.match(told(), /not today/)
    t.ok(existsSync(`${work}/a.txt`))
  })

  await visit('the keys j and k go from item to item, and the focus is never lost', async (t, page) => {
    await ask('write two')
    await page.goto('/console')
    const [first, second] = ['b.txt', 'c.txt'].map((file) => page.getByRole('article').filter({ hasText: file }))
    await first.getByRole('button', { name: /^Allow/ }).waitFor()
    const hasFocus = (item: Locator) => item.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('j')
    await hasFocus(first)
    await page.keyboard.press('ArrowDown')
    await hasFocus(second)
    await page.keyboard.press('k')
    await hasFocus(first)
    await first.getByRole('textbox').press('j')
    t.equal(await first.getByRole('textbox').inputValue(), 'j', 'a field takes them as letters')
    await page.reload()
    t.equal(await first.getByRole('textbox').inputValue(), 'j', 'and keeps them over a reload')
    await press(first.getByRole('button', { name: 'Don’t allow' }))
    await first.waitFor({ state: 'detached' })
    // The next item has the focus of the decided one, and the heading that of the last.
    await hasFocus(second)
    await press(second.getByRole('button', { name: 'Don’t allow' }))
    await page.getByText('Nothing waits for you.').waitFor()
    await hasFocus(page.getByRole('heading', { name: 'Waiting for you' }))
  })

  await visit('fifty calls of one step are decided in a few actions, by boxes and by keys, each seen in full', async (t, page) => {
    await ask('write fifty')
    await page.goto('/console')
    const items = page.getByRole('article')
    await items.nth(49).getByText(`${work}/notes/49.log`, { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('y')
    await page.getByText('1 decision is sent in a moment.').waitFor()
    await page.keyboard.press('u')
    await items.first().getByText('Allowed, not sent yet').waitFor({ state: 'detached' })
    t.equal((await waiting()).length, 50, 'what was taken back is not sent')

    await page.keyboard.press('k')
    await page.keyboard.press('y')
    await page.getByText('1 decision is sent in a moment.').waitFor()
    await page.getByRole('link', { name: 'Tasks' }).click()
    while ((await waiting()).length > 49) continue
    await page.goBack()

    await page.getByRole('checkbox', { name: 'Select all 49 calls' }).check()
    await page.locator('summary', { hasText: 'Always allow' }).click()
    await press(page.getByRole('button', { name: '*.md files in or below' }))
    await page.getByText('1 allowed. +42 allowed, which it covers.').last().waitFor()
    t.equal((await waiting()).length, 6)
    await items.nth(6).waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.keyboard.press('n')
    await page.keyboard.type('no logs')
    await page.keyboard.press('Escape')
    await page.getByText('1 not allowed.').last().waitFor()
    await page.getByRole('checkbox', { name: '5 selected' }).waitFor()
    await press(page.getByRole('button', { name: 'Allow these 5' }))
    await page.getByText('Nothing waits for you.').waitFor()
    await ended()
    t.equal(readdirSync(`${work}/notes`).length, 49)
    t.match(JSON.stringify(gateway!.requests.at(-1)!.body.prompt), /no logs/)
    // A preview may be asked for while its call is decided.
  }, { expected: /409 \(Conflict\)/ })

  await visit('questions are answered, and a required one is not left out', async (t, page) => {
    await ask('ask')
    await page.goto('/console')
    const send = page.getByRole('button', { name: 'Send answers' })
    await press(send)
    await page.getByText('This question needs an answer.').waitFor()
    await page.getByLabel('Markdown').check()
    await page.getByRole('group', { name: 'Which title?' }).getByRole('textbox').fill('Tea')
    await press(send)
    await page.getByText('Nothing waits for you.').waitFor()
    await ended()
    t.match(told(), /"answers":\{"format":"md","title":"Tea"\}/)
  })

  await visit('the tools of a server that are said to read only are accepted with one press', async (t, page) => {
    const connected = await connectToolServer({ client: agent.client, throwOnError: true, body: misbehaving('shelf', ['--reads=echo']) })
    t.equal(connected.data.status, 'connected')
    await page.goto('/console')
    const item = page.getByRole('article', { name: 'Accept the tools of a server: shelf' })
    await item.getByRole('listitem').filter({ hasText: 'echo' }).getByText('new', { exact: false }).waitFor()
    await press(item.getByRole('button', { name: 'Accept', exact: true }))
    await page.getByText('Nothing waits for you.').waitFor()
    t.same((await listApprovals({ client: agent.client, query: { kind: 'server' } })).data?.approvals, [])
  })

  await visit('a tool server asks by its name, and its call goes on with the answer', async (t, page) => {
    await page.goto('/console')
    const run = ask('book')
    const item = page.getByRole('article', { name: 'A tool server asks: travel' })
    await item.getByRole('textbox').fill('Ada')
    await press(item.getByRole('button', { name: 'Send answers' }))
    t.equal((await run).text, 'Done.')
    t.match(told(), /\\"name\\":\\"Ada\\"/)
  })

  await visit('a card shows what the runs of a task found and what was denied, until it is kept', async (t, page) => {
    const api = { client: agent.client, throwOnError: true } as const
    const { data: { id } } = await createTask({
      ...api,
      body: { goal: 'look', taskType: 'triggered', approval: { mode: 'granted' }, plan: { phases: [{ description: 'look' }] } }
    })
    for (const body of [undefined, undefined, undefined, { input: { from: 'Ada' } }]) {
      await runTask({ ...api, path: { id }, body })
      while ((await getTask({ ...api, path: { id } })).data.status === 'running') continue
    }
    // Days of a schedule are those of test/services/tasks/task-index.test.ts; here they are added to what the service answers.
    await page.route(/\/tasks\/digest\?/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      const [look] = json.tasks.items
      look?.passed.push({ fate: 'skipped', reason: 'overlap', count: 3, from: 1, at: 2, text: '' })
      const idle = { runs: { items: [], more: 0 }, nothingToDo: 1, denied: [], passed: [] }
      if (look) json.tasks.items.unshift(...Array.from({ length: 8 }, (_, n) => ({ taskId: `${n}`, name: 'idle', goal: 'idle', ...idle })))
      await route.fulfill({ response, json })
    })
    await page.goto('/console')
    await page.getByRole('listitem').filter({ hasText: 'water the plants' }).filter({ hasText: 'Completed' }).waitFor()
    const group = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'look', exact: true }) })
    await group.getByText('2 runs had nothing to do').waitFor()
    await group.getByText('3 planned times passed without a run: another run was active').waitFor()
    await page.getByRole('button', { name: 'Show 3 more' }).waitFor()
    t.same(await group.getByRole('link', { name: /^Run / }).allTextContents(), ['Run 4', 'Run 1'])

    await group.getByText('*.txt files in or below').waitFor()
    await group.getByRole('button', { name: 'Always allow' }).click()
    await page.getByRole('dialog').getByText('a letter').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Always allow' }).click()
    await group.getByText('Later runs may do this.').waitFor()
    const { data: { grants } } = await listGrants({ ...api, query: { taskId: id } })
    t.match(grants, [{ toolName: 'writeFile', scope: 'folder', source: 'request' }])

    await group.getByRole('link', { name: 'Run 4' }).click()
    await page.getByRole('region', { name: 'What the run was given' }).getByText('Ada').waitFor()
    await page.goBack()
    await group.waitFor()
    t.equal((await taskDigest({ ...api, query: { client: 'console' } })).data.tasks.items.length, 2, 'a look alone marks nothing')
    await page.getByRole('button', { name: 'Keep all' }).click()
    await page.getByText('Nothing new. All is dealt with.').waitFor()
    t.same((await taskDigest({ ...api, query: { client: 'console' } })).data.tasks.items, [], 'for every browser')
  })

  await visit('a call runs with the input that a person corrected, after a look at what it would change', async (t, page) => {
    await page.goto('/console')
    await ask('correct')
    const item = page.getByRole('article', { name: /^Write .*\?$/ })
    await item.locator('summary', { hasText: 'Change it before it runs' }).click()
    await item.getByRole('textbox', { name: 'File' }).fill('right.txt')
    await item.getByRole('button', { name: 'See what it would change' }).click()
    await item.getByText(`${work}/right.txt`, { exact: true }).waitFor()
    await press(item.getByRole('button', { name: 'Run it with my changes' }))
    await page.getByText('Nothing waits for you.').waitFor()
    await ended()
    t.equal(readFileSync(`${work}/right.txt`, 'utf8'), 'text')
    t.notOk(existsSync(`${work}/wrong.txt`))
    t.match(told(), /ran with the user's corrected input/)

    await ask('correct the edit')
    const edit = page.getByRole('article', { name: /^Edit .*\?$/ })
    await edit.locator('summary', { hasText: 'Change it before it runs' }).click()
    t.equal(await edit.getByRole('textbox', { name: 'Changes 1: Find' }).inputValue(), 'te')
    await edit.getByRole('textbox', { name: 'Changes 1: Replace with' }).fill('TE')
    await press(edit.getByRole('button', { name: 'Run it with my changes' }))
    await page.getByText('Nothing waits for you.').waitFor()
    await ended()
    t.equal(readFileSync(`${work}/right.txt`, 'utf8'), 'TExt')
  })

  // Two weeks of failures are those of test/routes/schedule-life.test.ts; here the service answers as it does after them.
  await visit('a choice about a task is shown with its task, and answered with one press', async (t, page) => {
    const choices = [{ value: 'keep', label: 'Keep trying' }, { value: 'cancel', label: 'Cancel the task' }]
    const approvalId = '01a1fef7-4334-7355-8a31-93bc63563d6b'
    const asked = { approvalId, kind: 'task', state: 'pending', about: 'failing', createdAt: Date.now() }
    let answer: unknown
    await page.route(/\/approvals(\?|\/01a1)/, async (route) => {
      if (route.request().method() === 'POST') {
        answer = route.request().postDataJSON()
        return route.fulfill({ json: { approvalId, taskId: task.id, state: 'answered', continued: false } })
      }
      const approvals = answer === undefined ? [{ ...asked, taskId: task.id, text: 'It has failed 7 times in a row.', choices }] : []
      return route.fulfill({ json: { approvals } })
    })
    await page.goto('/console')
    const item = page.getByRole('article', { name: 'A task keeps failing' })
    await item.getByRole('link', { name: 'Task: water the plants' }).waitFor()
    await item.getByText('It has failed 7 times in a row.').waitFor()
    await press(item.getByRole('button', { name: 'Keep trying' }))
    await item.getByText('Answered.').waitFor()
    t.same(answer, { choice: 'keep' })
  })

  await visit('a reason survives a decision that failed, and an item that was decided elsewhere goes', async (t, page) => {
    await ask('delete')
    await page.goto('/console')
    const item = page.getByRole('article')
    const [{ approvalId }] = await waiting()
    await page.route(`**/approvals/${approvalId}`, (route) => route.request().method() === 'POST' ? route.abort() : route.continue())
    await item.getByRole('textbox', { name: 'Reason' }).fill('It is needed')
    await press(item.getByRole('button', { name: 'Don’t allow' }))
    await item.getByRole('alert').waitFor()
    t.equal(await item.getByRole('textbox', { name: 'Reason' }).inputValue(), 'It is needed', 'what was typed stays')
    await agent.decide(approvalId, false)
    await page.getByText('Nothing waits for you.').waitFor()
  }, { colorScheme: 'dark', viewport: { width: 360, height: 740 }, expected: /ERR_FAILED/ })
})
