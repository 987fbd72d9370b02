import type { Browser, Page } from 'playwright-core'

/** What a page did while something was measured. */
export interface PageWork {
  /** The tasks that kept the page from answering for more than 50 ms of CPU time. */
  longTasks: number
  /** The most rows of the conversation that were in the document at once. */
  rows: number
}

/** A task of a thread, as Chromium traces it; µs. `tdur` is its CPU time, which other processes of the machine do not lengthen. */
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

/** Watches the only page of a browser during `work`. */
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

/** Returns a part of an answer as models write them: a paragraph, code or a list. */
export const partOfAnswer = (n: number): string => n % 7 === 3 ? CODE : n % 5 === 0 ? LIST : PARAGRAPH

/** Returns an answer of so many tokens, each of them some characters. */
export function tokensOfAnswer (count: number): string[] {
  const tokens: string[] = []
  for (let n = 0; tokens.length < count; n++) tokens.push(...partOfAnswer(n).match(/\s*\S{1,5}|\s+/g) ?? [])
  return tokens.slice(0, count)
}
