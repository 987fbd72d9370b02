import t from 'tap'
import { createTask, extractFacts, getBrain, learnFact, listTaskRuns, putThread, startTask } from '../../client/generated/index.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole } from '../harness/console.ts'

const likes = { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }

t.test('facts beside words', { skip: noBrowser }, async (t) => {
  const { agent, visit } = await openConsole(t, {
    reply: () => ({ text: 'Saved the list in list.md.' }),
    structured: ({ structured }) => structured === 'evaluation' ? { object: likes } : undefined
  })
  const asked = { client: agent.client, throwOnError: true } as const
  const { data: { id } } = await createTask({
    ...asked,
    body: { goal: 'write the list', approval: { mode: 'never' }, plan: { phases: [{ description: 'Write it' }], expects: 'files' } }
  })
  await startTask({ ...asked, path: { id } })
  let run
  do [run] = (await listTaskRuns({ ...asked, path: { id } })).data.runs
  while (run?.status !== 'completed')
  const { runId } = run

  await visit('a run whose report its calls do not bear out is marked, and what happened stands below the report', async (t, page) => {
    await page.goto(`/console/runs/${runId}`)
    const result = page.getByRole('region', { name: 'Result', exact: true })
    await result.getByText('Saved the list in list.md.').waitFor()
    await result.getByText('It called no tool, so it changed nothing.').waitFor()
    await result.getByText('does not back up everything in its report').waitFor()
    await page.getByRole('definition').filter({ hasText: 'Completed' }).getByText('Not verified').waitFor()
    await page.getByRole('region', { name: 'How it was judged' }).getByText(/The plan expects that files are written/).waitFor()
    t.same(await axe(page), [])
  })

  await visit('the mark and the line are in the digest and among the runs of the task', async (t, page) => {
    await page.goto('/console')
    const item = page.getByRole('listitem').filter({ hasText: 'Saved the list in list.md.' }).last()
    await item.getByText('Not verified').waitFor()
    await item.getByText('It called no tool, so it changed nothing.').waitFor()
    await page.goto(`/console/tasks/${id}`)
    await page.getByText('A run is to write, move or delete files.').waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByText('Not verified').waitFor()
    t.pass('the run among those of the task')
  })
})

t.test('what was just learned is shown wherever one is, and erased by one press', { skip: noBrowser }, async (t) => {
  const point = (message: number, span: string) =>
    ({ message, span, kind: 'fact', about: 'user', lasting: true, sensitive: false, replaces: [] })
  const { agent, visit } = await openConsole(t, {
    reply: () => ({ text: 'ok' }),
    structured: ({ structured }) =>
      structured === 'facts' ? { object: { pointers: [point(0, 'I live in Lisbon.'), point(1, 'I keep bees.')], habits: [] } } : undefined
  })
  const asked = { client: agent.client, throwOnError: true } as const
  const messages = ['I live in Lisbon. Write me a poem.', 'I keep bees. Thank you.'].map((content) => ({ role: 'user', content }))
  await putThread({ ...asked, path: { id: 'chat' }, body: { messages } })

  await visit('the memory says so on any page', async (t, page) => {
    await page.goto('/console/memory')
    await page.getByText('Nothing is remembered yet').waitFor()
    await learnFact({ ...asked, body: { fact: 'Likes tea' } })
    await page.getByText('Likes tea', { exact: true }).waitFor()
    const { data } = await extractFacts({ ...asked, path: { id: 'chat' } })
    t.equal(data.added, 2)
    const shown = page.getByRole('complementary', { name: 'Just learned' })
    await shown.getByText('Remembered: “I keep bees.”').waitFor()
    await shown.hover()
    t.same(await axe(page), [])
    await shown.getByRole('listitem').filter({ hasText: 'Lisbon' }).getByRole('button', { name: 'Forget' }).click()
    await shown.getByText('Lisbon').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Settings' }).click()
    await shown.getByRole('link', { name: 'Memory' }).click()
    await page.getByRole('main').getByText('I keep bees.').first().waitFor()
    t.same((await getBrain(asked)).data.brain.facts, ['Likes tea', 'I keep bees.'])
    await shown.getByRole('button', { name: 'Close' }).click()
    await shown.waitFor({ state: 'detached' })
  })
})
