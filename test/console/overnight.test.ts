import { readFileSync } from 'node:fs'
import t from 'tap'
import { createTask, getTask, listTasks } from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole } from '../harness/console.ts'

/** Writes the summary, and reports it. */
function reply ({ body: { prompt } }: GatewayRequest): Plan {
  if (prompt.at(-1).role !== 'user') return { text: 'Wrote the summary.' }
  return { toolCalls: [{ toolName: 'writeFile', input: { path: 'summary.md', content: 'All is well.' } }] }
}

/** The judge finds one claim in the report, which the write bears out. */
function structured ({ structured, body }: GatewayRequest): Plan | undefined {
  if (structured !== 'evaluation') return undefined
  const call = /([\w-]+) writeFile \S*summary/.exec(JSON.stringify(body.prompt).replaceAll('\\n', ' '))?.[1] ?? null
  const claim = { quote: 'Wrote the summary.', claim: 'Wrote the summary', effect: 'file', target: null, call }
  return { object: { outcome: 'done', claims: [claim], satisfied: true, score: 1, issues: [] } }
}

t.test('work for the night is rehearsed, started and found on the desk, by the keyboard at 360 px', { skip: noBrowser }, async (t) => {
  const { agent, work, visit } = await openConsole(t, {
    ...{ reply, structured, work: { night: {} } },
    config: { models: { fast: 'test/model' }, prices: { test: { input: 1, output: 1 } } }
  })
  const api = { client: agent.client, throwOnError: true } as const
  await visit('from the form to the morning', async (t, page) => {
    const press = async (name: string | RegExp) => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    await page.goto('/console/tasks')
    await page.getByRole('link', { name: 'Work overnight' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Goal' }).focus()
    await page.keyboard.type('Sum up the notes')
    await page.keyboard.press('Tab')
    await page.keyboard.type(`${work}/night`)
    t.same(await axe(page), [], 'the form is clean')
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await page.getByRole('spinbutton', { name: 'At most, US dollars' }).focus()
    await page.keyboard.press('Enter')

    const choose = page.getByRole('button', { name: 'Choose all' })
    await choose.waitFor()
    t.throws(() => readFileSync(`${work}/night/summary.md`), 'nothing of it has happened')
    t.same(await axe(page), [], 'the sheet is clean')
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    await press('Choose all')
    await press('Allow my choice and start')
    await page.getByText('Ends at').waitFor()
    const { data: { tasks: [{ id, endsAt, options }] } } = await listTasks(api)
    t.equal(new Date(endsAt!).getHours(), 7)
    t.match(options, { budget: { usd: 5 } })
    while ((await getTask({ ...api, path: { id } })).data.status !== 'completed') continue
    t.equal(readFileSync(`${work}/night/summary.md`, 'utf8'), 'All is well.')

    const late = { goal: 'wait for me', approval: { mode: 'changes' as const }, plan: { phases: [{ description: 'sum up' }] } }
    const { data: unanswered } = await createTask({ ...api, body: { ...late, start: true, endsAt: Date.now() + 3_000 } })
    while ((await getTask({ ...api, path: { id: unanswered.id } })).data.status !== 'failed') continue

    await page.goto('/console')
    const card = page.locator('[data-desk]').filter({ hasText: 'Sum up the notes' })
    await card.locator('summary', { hasText: '1 call without asking' }).focus()
    await page.keyboard.press('Enter')
    await card.getByText('You allowed:').waitFor()
    const stopped = page.locator('[data-desk]').filter({ hasText: 'wait for me' })
    await stopped.getByText(/Stopped at its end time.* It waited for an answer: .*summary\.md.* Not done: “sum up”/).waitFor()
    t.same(await axe(page), [], 'the desk is clean')
    await card.getByRole('link', { name: 'Wrote the summary' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('details[open] > summary:focus').getByText('summary.md').waitFor()
  }, { viewport: { width: 360, height: 740 } })
})
