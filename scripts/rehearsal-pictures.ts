import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Locator, type Page } from 'playwright-core'
import { ROOT } from './bundle.ts'

// Takes the pictures of docs/rehearsal.md with the built service and a scripted model. Run `npm run build` first. The script sets up three
// nightly tasks in the console, rehearses and accepts them, and shows the digest of each morning of a week.
const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium'
const DAY = 86_400_000
const out = `${ROOT}docs/rehearsal/`
const dir = mkdtempSync(join(tmpdir(), 'rehearsal-'))
const home = join(dir, 'home')
const work = join(dir, 'notes')
const AHEAD = `const Real = Date
  const ahead = () => Real.now() + Number(process.env.AHEAD_MS)
  globalThis.Date = class extends Real {
    constructor (...of) { of.length > 0 ? super(...of) : super(ahead()) }
    static now () { return ahead() }
  }`
const call = (toolName: string, input: object) => ({ toolCalls: [{ toolName, input }] })
const NIGHT = [
  call('readFile', { path: 'inbox.md' }),
  call('writeFile', { path: 'notes/today.md', content: '# Today\n\n- call Ada\n' }),
  call('runCommand', { command: 'wc -l inbox.md > count.txt' }),
  call('notifyUser', { text: 'Your notes are ready.' }),
  { text: 'The notes of today are written.' }
]
/** The work of a later night, which differs from the rehearsal. */
const OTHER = [...NIGHT.slice(0, 2), call('deleteFile', { path: 'inbox.md' }), { text: 'The inbox is gone.' }]
const TASKS = ['Sum up the inbox as notes', 'Count what is open', 'Keep the list of the week']
const night = new Date(Date.now() + DAY / 4).toISOString().slice(11, 16)

function configure (script: object[]): void {
  writeFileSync(join(home, 'config.json'), JSON.stringify({ model: 'offline/scripted', offline: { script }, threads: { titles: false } }))
}

async function start (days: number): Promise<{ service: ChildProcess, url: string }> {
  const env = { PATH: process.env.PATH, TZ: 'UTC', LOCAL_AGENT_HOME: home, AHEAD_MS: String(days * DAY) }
  const preload = `data:text/javascript,${encodeURIComponent(AHEAD)}`
  const service = spawn(process.execPath, [`${ROOT}dist/server.js`, '--port', '0'], {
    cwd: work,
    env: { ...env, NODE_OPTIONS: `--import ${preload}` },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const [line] = await once(createInterface({ input: service.stdout! }), 'line')
  return { service, url: JSON.parse(line).url as string }
}

const toTop = (place: Locator): Promise<void> =>
  place.evaluate((node) => (node as unknown as { scrollIntoView(): void }).scrollIntoView())

async function picture (page: Page, name: string): Promise<void> {
  while (await page.locator('.loading').count() > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
  await page.evaluate('document.activeElement?.blur()')
  await page.screenshot({ path: `${out}${name}.png` })
}

/** Creates a task, rehearses it, and accepts everything that can be accepted. */
async function setUp (page: Page, goal: string, isShown: boolean): Promise<void> {
  await page.goto('/console/tasks/new')
  await page.getByLabel('Goal').fill(goal)
  await page.getByLabel('on a schedule').check()
  await page.getByLabel('At', { exact: true }).fill(night)
  await page.getByText('Every day at').waitFor()
  await page.getByLabel('Never ask: allow what is granted').check()
  await page.getByRole('button', { name: 'Create and start' }).click()
  await page.getByRole('button', { name: 'Rehearse' }).waitFor()
  if (isShown) await picture(page, 'task')
  await page.getByRole('button', { name: 'Rehearse' }).click()
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  for (const line of await page.locator('.sheet-later').all()) await line.getByRole('radio').last().check()
  await toTop(page.getByRole('heading', { name: 'What it would do' }))
  if (isShown) await picture(page, 'sheet')
  await page.getByRole('button', { name: /^Allow my/ }).click()
  await page.getByText('Allowed just now').first().waitFor()
}

mkdirSync(work)
mkdirSync(home)
mkdirSync(out, { recursive: true })
writeFileSync(join(work, 'inbox.md'), '- call Ada\n- book the room\n')
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
let running: ChildProcess | undefined
try {
  for (let day = 0; day <= 7; day++) {
    configure(day === 5 ? OTHER : NIGHT)
    const { service, url } = await start(day)
    running = service
    const context = await browser.newContext({ baseURL: url, viewport: { width: 780, height: 440 }, timezoneId: 'UTC' })
    const page = await context.newPage()
    await page.clock.setFixedTime(Date.now() + day * DAY)
    await page.goto('/console/')
    const later = page.getByRole('button', { name: 'Not now' })
    if (await later.isVisible().catch(() => false)) await later.click()
    if (day === 0) for (const [at, goal] of TASKS.entries()) await setUp(page, goal, at === 0)
    else {
      await page.getByText('Ran').or(page.getByText('caught up')).or(page.getByText(TASKS[0])).first().waitFor()
      await page.waitForTimeout(6_000)
      await page.reload()
      await page.getByText('What happened, by its calls').first().waitFor()
      if (day === 5) await toTop(page.getByRole('link', { name: TASKS[2] }).first())
      console.log(`day ${day}\n${(await page.getByRole('main').innerText()).replaceAll('\n\n', '\n')}\n`)
      if (day === 5) await picture(page, 'digest')
    }
    await context.close()
    service.kill()
    await once(service, 'exit')
  }
} finally {
  running?.kill()
  await browser.close()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}
