import { chromium, type Browser, type Page } from 'playwright-core'
import { createClient } from '../client/create-client.ts'
import { putThread } from '../client/generated/index.ts'
import { type Plan, startFakeGateway } from '../test/fakes/gateway.ts'
import { CHROMIUM, FLAGS } from '../test/harness/browser.ts'
import { createHome, startSubject } from './subjects.ts'

/** The number of messages in a long conversation. */
export const MESSAGES = 5_000

/** Opens the console in Chromium, for a service whose model answers everything with `plan`. */
export async function withConsole<T> (plan: Plan, work: (at: { browser: Browser, page: Page, baseUrl: string }) => Promise<T>): Promise<T> {
  const home = createHome({ threads: { titles: false } })
  const gateway = await startFakeGateway({ record: false, reply: () => plan })
  const { port, stop } = await startSubject('service', { dir: home.dir, url: gateway.url })
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  try {
    const baseUrl = `http://127.0.0.1:${port}`
    return await work({ browser, page: await openPage(browser, baseUrl), baseUrl })
  } finally {
    await browser.close()
    await stop()
    await gateway.close()
    home.remove()
  }
}

/** Opens a page with empty storage. */
export async function openPage (browser: Browser, baseURL: string): Promise<Page> {
  const page = await browser.newPage({ baseURL, viewport: { width: 1280, height: 800 } })
  page.setDefaultTimeout(300_000)
  return page
}

/** Stores a conversation with this number of messages; every second one is a question. */
export async function putQuestions (baseUrl: string, id: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, n) => ({
    id: `m${n}`,
    role: n % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: n % 2 === 0 ? `Question ${n}` : partOfAnswer(n) }]
  }))
  await putThread({ client: createClient({ baseUrl }), path: { id }, body: { messages }, throwOnError: true })
}

/** The work of a page during a measurement. */
export interface PageWork {
  /** The number of tasks that blocked the page for more than 50 ms of CPU time. */
  longTasks: number
  /** The largest number of conversation rows in the document at the same time. */
  rows: number
}

/** A task of a thread in Chromium's trace; times in microseconds. `tdur` is its CPU time, which other processes do not lengthen. */
interface TraceEvent {
  name: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

const LONG_US = 50_000
const WATCH = `(() => {
  let rows = 0
  let isOver = false
  requestAnimationFrame(function look () {
    rows = Math.max(rows, document.querySelectorAll('.message-row').length)
    if (!isOver) requestAnimationFrame(look)
  })
  window.endOfWork = () => {
    isOver = true
    return rows
  }
})()`

/** Records the work of a browser's only page during `work`. */
export async function watchWork (browser: Browser, page: Page, work: () => Promise<void>): Promise<PageWork> {
  await page.evaluate(WATCH)
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  await work()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const threads = new Set(traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`))
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`))
  if (tasks.length === 0) throw new Error('The trace has no tasks of the page.')
  return { longTasks: tasks.filter(({ tdur = 0 }) => tdur > LONG_US).length, rows: await page.evaluate<number>('endOfWork()') }
}

const CODE = `\`\`\`js\n${'const value = compute(1, 2, 3)\n'.repeat(8)}\`\`\`\n\n`
const LIST = '## A heading\n\n- item one\n- item **two**\n- item `three`\n\n'
const PARAGRAPH = `${'Some words of the answer that go on and on. '.repeat(10)}\n\n`

/** Returns part n of an answer, as models write: a paragraph, code or a list. */
export const partOfAnswer = (n: number): string => n % 7 === 3 ? CODE : n % 5 === 0 ? LIST : PARAGRAPH

/** Returns an answer with this number of tokens, each of them a few characters long. */
export function tokensOfAnswer (count: number): string[] {
  const tokens: string[] = []
  for (let n = 0; tokens.length < count; n++) tokens.push(...partOfAnswer(n).match(/\s*\S{1,5}|\s+/g) ?? [])
  return tokens.slice(0, count)
}
