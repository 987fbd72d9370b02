import { readFileSync } from 'node:fs'
import t from 'tap'
import { noBrowser } from '../harness/browser.ts'
import { openConsole } from '../harness/console.ts'

t.test('the inbox', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t)
  const { agent, work, visit } = console
  const ask = async (file: string) => {
    const { pending } = await agent.run({ prompt: `write "Buy tea" to ${file}` }).result()
    t.equal(pending.length, 1)
  }

  await visit('an empty inbox says what it is for', async (_t, page) => {
    await page.goto('/console')
    await page.getByText('Nothing waits for you.').waitFor()
  })

  await visit('a call that waits is shown whole and approved', async (t, page) => {
    await page.goto('/console')
    await page.getByText('Nothing waits for you.').waitFor()
    await ask('a.txt')
    const item = page.getByRole('article', { name: 'writeFile' })
    await item.getByText('a.txt', { exact: true }).waitFor()
    await item.getByText(work, { exact: true }).waitFor()
    await page.waitForTimeout(600)
    await item.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing waits for you.').waitFor()
    t.equal(readFileSync(`${work}/a.txt`, 'utf8'), 'Buy tea')
  })
})
