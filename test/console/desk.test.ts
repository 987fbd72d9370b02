import { existsSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { createTask, getRun, listGrants, listRuns, runTask, startTask, taskDigest } from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole, say } from '../harness/console.ts'

const write = (path: string): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: path } }] })
const LONG = 'The list has forty points, and each is checked. '.repeat(60)

/** Tasks write a file of their name, one fails; chats read, and answer at length. */
function reply ({ body: { prompt } }: GatewayRequest): Plan {
  const last = prompt.at(-1)
  if (last.role !== 'user') return { text: `Wrote the file. ${LONG}` }
  const said = JSON.stringify(last.content)
  const name = /note-\d+/.exec(said)?.[0]
  if (said.includes('break')) return { error: { status: 400, message: 'The model is gone.' } }
  if (name !== undefined) return write(`${name}.txt`)
  const look = { toolName: 'listDirectory', input: { path: '.' } }
  return said.includes('read') ? { toolCalls: Array.from({ length: 8 }, () => look) } : { text: LONG }
}

/** The judge finds one claim in each report, which the write bears out. */
function structured ({ structured, body }: GatewayRequest): Plan | undefined {
  if (structured !== 'evaluation') return undefined
  const call = /([\w-]+) writeFile \S*note/.exec(JSON.stringify(body.prompt).replaceAll('\\n', ' '))?.[1] ?? null
  return {
    object: {
      outcome: 'done',
      claims: [{ quote: 'Wrote the file.', claim: 'Wrote the file', effect: 'file', target: null, call }],
      satisfied: true,
      score: 1,
      issues: []
    }
  }
}

t.test('the desk in the morning', { skip: noBrowser }, async (t) => {
  const { agent, work, visit } = await openConsole(t, { reply, structured })
  const api = { client: agent.client, throwOnError: true } as const
  const begin = Date.now()
  for (let n = 0; n < 10; n++) {
    const mode: 'granted' | 'never' = n === 8 ? 'granted' : 'never'
    const goal = n === 9 ? 'break' : `note-${n}`
    const body = { goal, taskType: 'triggered' as const, approval: { mode }, plan: { phases: [{ description: goal }] } }
    const { data: { id } } = await createTask({ ...api, body })
    const { data: { runId } } = await runTask({ ...api, path: { id } })
    await getRun({ ...api, path: { runId }, query: { waitMs: 30_000 } })
  }
  for (const prompt of ['read the folder', 'think it over']) await agent.run({ prompt, options: { interactive: true } }).result()
  const { data: night } = await taskDigest({ ...api, query: { client: 'console' } })
  t.equal(night.tasks.items.length, 10)
  t.equal(night.chats.items.length, 2)
  t.match(night.text, /Answers in chats: 2 chats/)

  /** Opens the dialog of a key, which does nothing in the first moments of a card, and presses a button of it by the keyboard. */
  const confirm = async (page: Page, key: string, name: RegExp) => {
    const dialog = page.getByRole('dialog')
    while (await dialog.count() === 0) await page.keyboard.press(key)
    const button = dialog.getByRole('button', { name })
    await button.waitFor()
    while (await button.and(page.locator(':focus')).count() === 0) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
  }
  await visit('ten runs and two long chats are dealt with by the keyboard alone', async (t, page) => {
    await page.goto('/console')
    const cards = page.locator('[data-desk]')
    await cards.nth(11).waitFor()
    t.same(await axe(page), [], 'the desk is clean')
    const focused = page.locator('[data-desk]:focus-within')
    let undone = ''
    while (await cards.count() > 0) {
      if (await focused.count() === 0) await page.keyboard.press('j')
      await focused.waitFor()
      const text = await focused.innerText()
      if (text.includes('note-0')) {
        await focused.getByRole('button', { name: 'Undo 1 file' }).waitFor()
        await confirm(page, 'u', /^Undo/)
        await focused.getByText('Undone', { exact: true }).waitFor()
        undone = 'note-0'
      }
      if (text.includes('note-8')) {
        await confirm(page, 'a', /^Always allow/)
        await focused.getByText('Later runs may do this.').waitFor()
      }
      const card = page.locator(`[data-desk="${await focused.getAttribute('data-desk')}"]`)
      while (await card.count() > 0) await page.keyboard.press('y')
    }
    await page.getByText('Nothing new. All is dealt with.').waitFor()
    t.equal(undone, 'note-0')
    t.notOk(existsSync(`${work}/note-0.txt`))
    t.equal(readFileSync(`${work}/note-1.txt`, 'utf8'), 'note-1.txt')
    const { data: { grants } } = await listGrants(api)
    t.match(grants, [{ toolName: 'writeFile', scope: 'folder', source: 'request' }])
    const { data: after } = await taskDigest({ ...api, query: { client: 'console' } })
    t.same([after.tasks.items, after.chats.items], [[], []], 'for every browser')
    t.equal((await taskDigest({ ...api, query: { since: begin } })).data.chats.items.length, 2, 'another reader has its own')
  })

  await visit('a card names what ran unasked and why, and leads to calls; a chat that was looked at has none', async (_, page) => {
    const { data: { id } } = await createTask({
      ...api,
      body: { goal: 'note-20', approval: { mode: 'never' }, plan: { phases: [{ description: 'note' }] } }
    })
    await startTask({ ...api, path: { id } })
    const { threadId } = await agent.run({ prompt: 'think again', options: { interactive: true } }).result()
    while ((await listRuns({ ...api, query: { status: 'running' } })).data.runs.length > 0) continue
    await page.goto(`/console/chat/${threadId}`)
    await page.getByText('The list has forty points').first().waitFor()
    while ((await taskDigest({ ...api, query: { client: 'console' } })).data.chats.items.length > 0) continue
    await page.getByRole('link', { name: 'Inbox' }).click()
    const card = page.locator('[data-desk]').filter({ hasText: 'note-20' })
    await card.locator('summary', { hasText: '1 call without asking' }).click()
    await card.getByText('This run was set to go on without asking.').waitFor()
    await card.getByRole('link', { name: 'Wrote the file' }).click()
    const call = page.getByRole('region', { name: 'Steps and calls' }).locator('details[open] > summary:focus')
    await call.getByText('note-20.txt').waitFor()
  }, { colorScheme: 'dark', viewport: { width: 360, height: 740 } })

  await visit('an answer that failed can go on at once', async (_, page) => {
    await page.goto('/console/chat')
    await say(page, 'break')
    await page.getByText('The model is gone.').first().waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Go on', exact: true }).click()
    await page.getByText('The list has forty points').first().waitFor()
  }, { expected: /status of 400/ })
})
