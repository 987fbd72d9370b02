import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { createTask, deleteTask, getTask, listGrants, listTasks, runTask, startTask, updateTask } from '../../client/generated/index.ts'
import { noBrowser } from '../harness/browser.ts'
import { axe, openConsole, press, SCREENS, showOn } from '../harness/console.ts'

const HOUR = 60 * 60 * 1000
/** Sets the service's clock ahead by AHEAD_MS. */
const AHEAD = `const Real = Date
  const ahead = () => Real.now() + Number(process.env.AHEAD_MS)
  globalThis.Date = class extends Real {
    constructor (...of) { of.length > 0 ? super(...of) : super(ahead()) }
    static now () { return ahead() }
  }`
const env = { TZ: 'UTC', AHEAD_MS: '0', NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(AHEAD)}` }
/** The model of the chat writes without an end; tasks have the offline one. */
const story = { text: Array.from({ length: 5_000 }, (_, at) => `word ${at} `), partMs: 50 }

/** A time of day as the browser of the tests writes it. */
const clock = (time: string) =>
  new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' }).format(new Date(`2000-01-01T${time}Z`))
/** The time of day in six hours. */
const night = new Date(Date.now() + 6 * HOUR).toISOString().slice(11, 16)

t.test('tasks', { skip: noBrowser }, async (t) => {
  const config = { model: 'offline/assistant', models: { fast: 'offline/assistant' }, analysis: true }
  const { agent, work, service, restart, visit } = await openConsole(t, { env, reply: () => story, config })
  const asked = { client: agent.client, throwOnError: true } as const
  const plan = { phases: [{ description: 'All of it' }] }
  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

  await visit('without tasks the list says what a task is, and leads to a new one', async (t, page) => {
    await page.goto('/console/tasks')
    await page.getByRole('link', { name: 'Create the first task' }).click()
    await page.getByLabel('Goal').fill('water the plants every weekday at 8')
    await page.getByRole('button', { name: 'This is not its time' }).click()
    await page.getByLabel('Once', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Use this time' }).click()
    await page.getByLabel('Once', { exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create only' }).click()
    await page.getByRole('heading', { name: 'Water the plants' }).waitFor()
    const { data: { tasks: [named] } } = await listTasks(asked)
    const daily = { interval: 'every weekday at 8' }
    t.match(named, { goal: 'Water the plants', taskType: 'recurring', schedule: daily }, 'a time of the goal is that of the task')
    await deleteTask({ ...asked, path: { id: named.id } })

    await page.goto('/console/tasks/new')
    await page.getByLabel('Goal').fill('water the plants every weekday at 8')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    t.equal(await page.getByLabel('Goal').inputValue(), 'Water the plants')
    await page.getByText('Monday to Friday at 8:00 AM · Next run').waitFor()
    await page.getByLabel('Goal').fill('write "Good morning" to notes.txt')
    await page.getByLabel('How often').selectOption('Every day')
    await page.getByLabel('At', { exact: true }).fill(night)
    await page.getByText(`Every day at ${clock(night)} · Next run`).waitFor()
    t.ok(await page.getByLabel('Ask me first').isChecked(), 'it asks where something is at stake')
    await page.getByLabel('Never ask, allow what I listed').waitFor()
    t.notOk(await page.getByLabel('Never ask: allow everything').isVisible(), 'two modes come first')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Never ask: allow everything').check()
    await page.reload()
    t.equal(await page.getByLabel('Goal').inputValue(), 'write "Good morning" to notes.txt', 'what was typed survives a reload')
    await page.getByRole('button', { name: 'Create and start' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await section(page, 'Times').getByText('Next times (10)').click()
    await section(page, 'Times').locator('ol > li').nth(9).waitFor()
  }, { timezoneId: 'UTC' })

  await visit('a task of the night is seen the next morning, by a page that was open when the service died', async (t, page) => {
    await page.goto('/console/tasks')
    await page.getByRole('link', { name: 'Good morning' }).click()
    await page.getByRole('textbox', { name: 'Tell it something' }).fill('Shorter')
    await service().stop('SIGKILL')
    await page.locator('.connection').waitFor()
    env.AHEAD_MS = String(12 * HOUR)
    await restart()
    await page.locator('.connection').waitFor({ state: 'detached', timeout: 20_000 })
    const run = section(page, 'Runs').getByRole('listitem').filter({ hasText: 'Completed' })
    await run.getByText('caught up').waitFor()
    await section(page, 'Times').getByText('Past times').click()
    await section(page, 'Times').getByText('Ran').waitFor()
    t.equal(await page.getByRole('textbox', { name: 'Tell it something' }).inputValue(), 'Shorter', 'what was typed is still there')
    // Reasons of days, added to what the service answers.
    await page.route(/\/tasks\/[^/]+\/schedule/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      json.slots.push(...['failing', 'budget', 'ended', 'manual'].map((reason, at) => ({ at, fate: 'skipped', reason })))
      await route.fulfill({ response, json })
    })
    await page.reload()
    await section(page, 'Times').getByText('Past times').click()
    for (const reason of ['keeps failing', 'budget of the day', 'end time came', 'run by hand']) {
      await section(page, 'Times').getByText(reason).waitFor()
    }

    await run.getByRole('link').click()
    await section(page, 'Result').getByText('Created').waitFor()
    await section(page, 'Steps and calls').getByText('Write a file').click()
    await page.getByText('Good morning', { exact: true }).first().waitFor()
    t.equal(readFileSync(`${work}/notes.txt`, 'utf8'), 'Good morning')

    await page.getByRole('button', { name: 'Undo…', exact: true }).click()
    await page.getByRole('dialog').getByText(`${work}/notes.txt`).waitFor()
    await page.getByRole('button', { name: 'Undo 1 change' }).click()
    await page.getByText('1 change was undone.').first().waitFor()
    t.notOk(existsSync(`${work}/notes.txt`))
    await page.getByRole('button', { name: 'Take the undo back…' }).click()
    await page.getByRole('button', { name: 'Undo 1 change' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.ok(existsSync(`${work}/notes.txt`))
  }, { timezoneId: 'UTC', expected: /ERR_CONNECTION|Failed to load|ERR_INCOMPLETE/ })

  await visit('a task is approved, steered, changed and deleted', async (t, page) => {
    const { data: { id } } = await createTask({ ...asked, body: { goal: 'write "tea" to list.txt', plan } })
    await page.goto(`/console/tasks/${id}`)
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('the task learns this').waitFor()
    await page.getByText(/^Write a file: .*list\.txt, with any content, where there is nothing/).waitFor()
    await press(page.getByRole('button', { name: /^Allow/ }))
    await page.getByRole('heading', { name: 'Result of a run' }).waitFor()
    await page.getByText('Approved, this run counts as a good one').waitFor()
    await page.getByRole('article').locator('code', { hasText: /^list\.txt$/ }).first().waitFor()
    t.same((await listGrants({ ...asked, query: { taskId: id } })).data.grants, [])
    await page.evaluate(`{ const { now } = Date; Date.now = () => now() + ${48 * HOUR} }`)
    await press(page.getByRole('button', { name: 'Approve' }))
    await page.getByText('this has waited for more than a day').first().waitFor()
    t.match((await getTask({ ...asked, path: { id } })).data.waitingFor, [{ kind: 'result' }], 'an old item is decided once more')
    await press(page.getByRole('button', { name: 'Approve' }))
    await section(page, 'Runs').getByText('Completed').waitFor()
    await page.getByText('when 2 more runs were approved').waitFor()
    const learned = page.getByRole('listitem').filter({ hasText: 'learned from approved runs' })
    await learned.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await learned.waitFor({ state: 'detached' })

    await page.getByRole('textbox', { name: 'Tell it something' }).fill('And milk')
    await page.getByRole('button', { name: 'Tell the next run' }).click()
    await page.getByText('The next run will be told.').first().waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Always ask').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Every run asks before its changes').waitFor()
    const { data: { steeringHistory, approval } } = await getTask({ ...asked, path: { id } })
    t.match({ steeringHistory, approval }, { steeringHistory: [{ comment: 'And milk' }], approval: { mode: 'always' } })

    await page.getByText('More', { exact: true }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    t.equal((await getTask({ client: agent.client, path: { id } })).response?.status, 404)
    // An event tells the page that the task has changed, and a slow page reads it once more before it leaves.
  }, { expected: /status of 404/ })

  await visit('a result holds up nothing, and an answer to one that a newer one replaced leads to the newer one', async (t, page) => {
    const body = { goal: 'system info', taskType: 'triggered' as const, approval: { mode: 'always' as const }, plan }
    const { data: { id } } = await createTask({ ...asked, body })
    const result = async (before?: string) => {
      await runTask({ ...asked, path: { id } })
      for (;;) {
        const [open] = (await getTask({ ...asked, path: { id } })).data.waitingFor ?? []
        if (open !== undefined && open.id !== before) return open.id
      }
    }
    const first = await result()
    const list = await (await page.request.get('/approvals?limit=500')).text()
    let isStale = true
    const answer = { body: list, contentType: 'application/json' }
    await page.route('**/approvals?*', (route) => isStale ? route.fulfill(answer) : route.continue())
    page.on('request', (request) => {
      if (request.method() === 'POST') isStale = false
    })
    await page.goto(`/console/tasks/${id}`)
    await section(page, 'About this task').getByText('Its result waits for you').waitFor()
    const second = await result(first)
    await press(page.locator(`[data-waiting="${first}"]`).getByRole('button', { name: 'Approve' }))
    await page.locator(`[data-waiting="${second}"]`).waitFor()
    await page.getByRole('alert').filter({ hasText: 'took its place' }).filter({ hasText: second }).waitFor()
    t.equal(await page.locator(`[data-waiting="${first}"]`).count(), 0)
    await section(page, 'Runs').getByText('nobody looked at its result before a newer one came').waitFor()
    await press(page.locator(`[data-waiting="${second}"]`).getByRole('button', { name: 'Approve' }))
    await section(page, 'About this task').getByText('Its result waits for you').waitFor({ state: 'detached' })
  }, { expected: /status of 409/ })

  await visit('a task that waits for its time says that its last run failed, and why', async (t, page) => {
    const cwd = `${work}/gone`
    mkdirSync(cwd)
    const { data: { id } } = await createTask({ ...asked, body: { goal: 'list the files', taskType: 'triggered', cwd, plan } })
    rmdirSync(cwd)
    await runTask({ ...asked, path: { id } })
    await page.goto('/console/tasks')
    const row = page.getByRole('listitem').filter({ hasText: 'list the files' })
    await row.getByText('Last run failed').waitFor()
    await row.getByRole('link').click()
    await section(page, 'About this task').getByText('Failed').waitFor()
    await section(page, 'Runs').getByText('is not a folder').first().waitFor()
    t.same(await axe(page), [])
  })

  await visit('a command that ended with an error is said to have failed, and is not green', async (t, page) => {
    const { runId } = await agent.run({
      prompt: 'run `exit 3` then run `echo fine`',
      options: { model: 'offline/assistant' },
      approve: () => true
    }).result()
    await page.goto(`/console/runs/${runId}`)
    const states = section(page, 'Steps and calls').locator('summary .status')
    await states.nth(1).waitFor()
    t.match(await states.allInnerTexts(), [/^\s*Failed: exit code 3$/, /^\s*Completed$/])
    t.not(await states.first().getAttribute('class'), await states.last().getAttribute('class'), 'the two differ in colour, too')
  })

  await visit('a live run of a chat shows what it writes, is told something, and is stopped', async (_t, page) => {
    const run = agent.run({ prompt: 'Tell a story', options: { model: 'test/model' } })
    const events = run[Symbol.asyncIterator]()
    await events.next()
    await page.goto(`/console/runs/${run.runId}`)
    await section(page, 'What it writes now').getByText('word 20').waitFor()
    await page.getByRole('textbox', { name: 'Tell the run something' }).fill('A shorter one')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The agent is told at its next step.').waitFor()
    await page.getByRole('button', { name: 'Stop the run' }).click()
    await section(page, 'About this run').getByText('Stopped').waitFor()
    await section(page, 'Result').getByText('word 20').waitFor()
    await events.return?.()
  })

  await visit('a task that a chat made shows its next times, and one press undoes it', async (t, page) => {
    const { threadId } = await agent.run({ prompt: 'every day at 9 list the files here' }).result()
    await page.goto(`/console/chat/${threadId}`)
    const card = page.locator('.task-card')
    await card.getByText('Every day at 9:00 AM').waitFor()
    t.equal(await card.locator('time').count(), 3)
    const { data: { tasks } } = await listTasks({ ...asked })
    const { id } = tasks.find(({ goal }) => /list the files/.test(goal))!
    await card.getByRole('button', { name: 'Undo' }).click()
    await card.getByText('The task was deleted.').waitFor()
    t.equal((await getTask({ client: agent.client, path: { id } })).response?.status, 404)
  }, { expected: /status of 404/ })

  await visit('a task is rehearsed, and what one ticks of the sheet later runs do unasked', async (t, page) => {
    const { data: { id } } = await createTask({ ...asked, body: { goal: 'write "tried" to tried.txt', taskType: 'triggered', plan } })
    await page.goto(`/console/tasks/${id}`)
    await page.getByRole('button', { name: 'Rehearse' }).click()
    const sheet = section(page, 'What it would do')
    await sheet.getByText('tried on the copy').waitFor()
    t.notOk(existsSync(`${work}/tried.txt`))
    t.ok(await sheet.getByRole('button', { name: 'Allow' }).isDisabled(), 'and what is to be done first stands beside it')
    await sheet.getByText('Choose above what later runs may do').waitFor()
    await sheet.getByLabel('*.txt files in or below').check()
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the screen')
    }
    await press(sheet.getByRole('button', { name: 'Allow my choice' }))
    await sheet.getByText(/^Allowed .*: Write a file: \*\.txt files/).waitFor()
    t.match((await listGrants({ ...asked, query: { taskId: id } })).data, { grants: [{ source: 'rehearsal', scope: 'folder' }] })
    await section(page, 'About this run').getByRole('link').first().click()
    await section(page, 'Rehearsals').getByText('1 accepted').waitFor()
    await deleteTask({ ...asked, path: { id } })
  })

  await visit('triggers are added, shown and removed, and what is wrong with one is said beside it', async (t, page) => {
    mkdirSync(`${work}/inbox`)
    const { data: other } = await createTask({ ...asked, body: { goal: 'collect the mail', taskType: 'triggered', plan } })
    await page.goto('/console/tasks/new')
    await page.getByLabel('Goal').fill('list the files of the inbox')
    await page.getByLabel('when another task ends').check()
    await page.getByRole('button', { name: 'Add: when another task ends' }).click()
    await page.getByRole('button', { name: 'Add: when files change' }).click()
    const [end, files] = [1, 2].map((number) => page.getByRole('group', { name: `Trigger ${number}` }))
    await end.getByLabel('The other task').selectOption({ label: 'collect the mail' })
    await end.getByLabel('When one of its runs').selectOption('fails')
    await files.getByLabel('Folder whose files change').fill('inbocks')
    await files.getByLabel('Which files').fill('*.pdf')
    await page.getByRole('button', { name: 'Create and start' }).click()
    await files.getByRole('alert').getByText('The folder "inbocks" of a trigger is not there, or cannot be read.').waitFor()
    t.equal(await page.getByRole('alert').count(), 1)
    for (const screen of SCREENS) {
      await showOn(page, screen)
      t.same(await axe(page), [], screen.name)
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the screen')
    }
    await files.getByLabel('Folder whose files change').fill('inbox')
    await page.getByRole('button', { name: 'Create and start' }).click()
    const shown = section(page, 'Triggers')
    await shown.getByText('inbox').waitFor()
    await shown.getByRole('link', { name: 'collect the mail' }).waitFor()
    const id = page.url().split('/').at(-1)!
    const triggers = async () => (await getTask({ ...asked, path: { id } })).data.triggers
    const [onEnd, onFiles] = [{ type: 'task', taskId: other.id, on: 'failed' }, { type: 'files', path: 'inbox', glob: '*.pdf' }]
    t.same(await triggers(), [onEnd, onFiles])

    await page.getByRole('link', { name: 'Edit' }).click()
    await end.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await shown.getByText('inbox').waitFor()
    await shown.getByRole('link', { name: 'collect the mail' }).waitFor({ state: 'detached' })
    t.same(await triggers(), [onFiles])
    await page.getByRole('link', { name: 'Edit' }).click()
    await end.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Only when someone runs it').waitFor()
    t.equal(await triggers(), undefined)
    for (const task of [id, other.id]) await deleteTask({ ...asked, path: { id: task } })
  }, { expected: /status of 400/ })

  await visit('a task that runs once has its time, which can be changed', async (t, page) => {
    const year = new Date().getUTCFullYear() + 1
    await page.goto('/console/tasks/new')
    await page.getByLabel('Goal').fill('list the files at Christmas')
    await page.getByLabel('Run at').fill(`${year}-12-24T18:00`)
    await page.getByRole('status').filter({ hasText: 'Next run' }).waitFor()
    await page.getByRole('button', { name: 'Create and start' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    t.equal(await page.getByLabel('Run at').inputValue(), `${year}-12-24T18:00`)
    t.equal(await page.getByLabel('Name').inputValue(), 'list the files at Christmas', 'made of the goal')
    await page.getByLabel('Name').fill('After the feast')
    await page.getByLabel('Goal').fill('list the files on Boxing Day')
    await page.getByLabel('Run at').fill(`${year}-12-26T09:00`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'After the feast' }).waitFor()
    await page.getByText('list the files on Boxing Day').first().waitFor()
    const id = page.url().split('/').at(-1)!
    const { data: { schedule, nextRunAt } } = await getTask({ ...asked, path: { id } })
    t.match({ schedule, nextRunAt }, { schedule: { once: `${year}-12-26T09:00` }, nextRunAt: Date.UTC(year, 11, 26, 9) })
    await updateTask({ ...asked, path: { id }, body: { goal: 'list the files', schedule: { once: `${year}-12-26T21:00:07` } } })
    await page.goto('/console/tasks')
    await page.getByText(/9:00:07\sPM/).first().waitFor()
    await deleteTask({ ...asked, path: { id } })
  }, { timezoneId: 'UTC' })

  await visit('of many tasks few are in the document, and all can be reached', async (t, page) => {
    const create = (goal: string) => createTask({ ...asked, body: { goal, plan } })
    await create('The oldest of all')
    for (let from = 0; from < 300; from += 50) await Promise.all(Array.from({ length: 50 }, (_, at) => create(`Number ${from + at}`)))
    await page.goto('/console/tasks')
    await page.getByRole('link', { name: 'Number' }).first().waitFor()
    const rows = () => page.getByRole('main').getByRole('listitem').count()
    t.ok(await rows() < 200)
    let isDown = true
    await page.route('**/tasks?*cursor=*', (route) => isDown ? route.fulfill({ status: 503, json: { error: 'Busy.' } }) : route.continue())
    await page.getByRole('searchbox').fill('oldest')
    const retry = page.getByRole('alert').getByRole('button')
    await retry.waitFor()
    isDown = false
    await retry.click()
    await page.getByRole('link', { name: 'The oldest of all' }).waitFor()
    t.equal(await rows(), 1)
    await page.getByRole('searchbox').fill('')
    const oldest = page.getByRole('link', { name: 'Good morning' })
    while (await oldest.count() === 0) {
      await page.mouse.wheel(0, 20_000)
      t.ok(await rows() < 200)
    }
  }, { expected: /status of 503/ })

  const { data: task } = await createTask({ ...asked, body: { goal: 'run `echo \u202Egnp.exe`', approval: { mode: 'never' }, plan } })
  await startTask({ ...asked, path: { id: task.id } })
  await visit('the pages of tasks are accessible, in light and dark, and no wider than 360 px', async (t, page) => {
    const check = async (of: string) => {
      for (const screen of SCREENS) {
        await showOn(page, screen)
        t.same(await axe(page), [], `${of}: ${screen.name}`)
        t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${of}: nothing is wider than the screen`)
      }
    }
    await page.goto('/console/tasks/new')
    await page.getByLabel('on a schedule').check()
    await check('a new task')
    await page.getByRole('link', { name: 'Tasks' }).click()
    await page.getByText('gnp.exe').waitFor()
    await check('the list')
    await page.getByText('gnp.exe').click()
    await page.getByRole('link', { name: 'Run 1' }).waitFor()
    await check('a task')
    await page.getByRole('link', { name: 'Run 1' }).click()
    await page.getByText('Run a command').first().click()
    await page.locator('.hidden-character').first().waitFor()
    await check('a run')
  })

  await visit('a single time that passed more than a week ago is asked about, and run with one press', async (t, page) => {
    const at = new Date(Date.now() + Number(env.AHEAD_MS) + HOUR).toISOString().slice(0, 16)
    const body = { goal: 'system info of that day', schedule: { once: at }, approval: { mode: 'never' as const }, start: true }
    const { data: { id } } = await createTask({ ...asked, body })
    await service().stop('SIGKILL')
    env.AHEAD_MS = String(9 * 24 * HOUR)
    await restart()
    await page.goto('/console')
    const item = page.getByRole('article', { name: 'The time of a task has passed' }).filter({ hasText: 'system info of that day' })
    await item.getByRole('button', { name: 'Drop it' }).waitFor()
    await press(item.getByRole('button', { name: 'Run it now' }))
    await page.getByText('Answered.').first().waitFor()
    await page.goto(`/console/tasks/${id}`)
    await section(page, 'Runs').getByText('Completed').waitFor()
    t.match((await getTask({ ...asked, path: { id } })).data, { status: 'completed', totalRuns: 1 })
  }, { timezoneId: 'UTC' })
})
