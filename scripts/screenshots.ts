import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright-core'
import { createAgent, type Agent } from '../client/agent.ts'
import { createTask, getRun, learnFact, runTask, setPreference, startTask } from '../client/generated/index.ts'
import { ROOT } from './bundle.ts'

// Takes the pictures of docs/console.md with the built service and the offline model. Run `npm run build` first. The pictures are part of
// the package; `pngquant` halves their size.
const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium'
const out = `${ROOT}docs/console/`
const dir = mkdtempSync(join(tmpdir(), 'screenshots-'))

async function startService () {
  const work = join(dir, 'notes')
  mkdirSync(work)
  writeFileSync(join(work, 'plan.md'), '# Plan\n\n- book the room\n- invite the team\n')
  const service = spawn(process.execPath, [`${ROOT}dist/server.js`, '--port', '0'], {
    cwd: work,
    env: { PATH: process.env.PATH, LOCAL_AGENT_HOME: join(dir, 'home') },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const [line] = await once(createInterface({ input: service.stdout }), 'line')
  return { service, url: JSON.parse(line).url as string }
}

/** Fills the service with a day's work. Returns the ids of a conversation and of a task's run. */
async function fill (agent: Agent) {
  const asked = { client: agent.client, throwOnError: true } as const
  for (const fact of ['I work from Bern on Fridays', 'My standup is at 9:15']) await learnFact({ ...asked, body: { fact } })
  await setPreference({ ...asked, body: { key: 'Reports', value: 'short, with dates' } })
  const prompt = 'list the files here, then write "- book the big room\n- invite the team" to plan.md'
  const { threadId } = await agent.run({ prompt }).result()
  const { data: task } = await createTask({
    ...asked,
    body: {
      goal: 'write "All quiet." to report.md',
      taskType: 'recurring',
      schedule: { interval: 'daily', at: '07:30' },
      plan: { phases: [{ description: 'Write the report' }] },
      approval: { mode: 'never' }
    }
  })
  await startTask({ ...asked, path: { id: task.id } })
  const { data: { runId } } = await runTask({ ...asked, path: { id: task.id } })
  await getRun({ ...asked, path: { runId }, query: { waitMs: 30_000 } })
  return { threadId, runId }
}

async function take (page: Page, path: string, name: string) {
  await page.goto(`/console/${path}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  while (await page.locator('.loading').count() > 0) await page.locator('.loading').first().waitFor({ state: 'detached' })
  await page.waitForLoadState('networkidle', { timeout: 1_000 }).catch(() => {})
  await page.screenshot({ path: `${out}${name}.png` })
}

const { service, url } = await startService()
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
try {
  const { threadId, runId } = await fill(createAgent({ url }))
  mkdirSync(out, { recursive: true })
  const page = await browser.newPage({ baseURL: url, viewport: { width: 1280, height: 800 } })
  await page.goto('/console/')
  await page.getByRole('button', { name: 'Not now' }).click()
  // Items that ended in the last moments cannot be kept yet.
  await page.getByRole('button', { name: 'Keep all', disabled: false }).waitFor()
  await take(page, '', 'inbox')
  await take(page, 'tasks', 'tasks')
  await take(page, `runs/${runId}`, 'run')
  await take(page, `chat/${encodeURIComponent(threadId)}`, 'chat')
  await take(page, 'memory', 'memory')
  await take(page, 'settings/models', 'settings')
} finally {
  await browser.close()
  service.kill()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}
