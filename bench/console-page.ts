import type { Page } from 'playwright-core'

/** What a page did while something was measured. */
export interface PageWork {
  /** The lengths of tasks that kept the page from answering for more than 50 ms, ms. */
  longTasks: number[]
  /** The most rows of the conversation that were in the document at once. */
  rows: number
  frames: number
}

const WATCH = `(() => {
  const work = { longTasks: [], rows: 0, frames: 0 }
  const observer = new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) work.longTasks.push(duration) })
  observer.observe({ entryTypes: ['longtask'] })
  let isOver = false
  requestAnimationFrame(function look () {
    work.frames++
    work.rows = Math.max(work.rows, document.querySelectorAll('.message-row').length)
    if (!isOver) requestAnimationFrame(look)
  })
  window.endOfWork = () => {
    isOver = true
    observer.disconnect()
    return work
  }
})()`

/** Watches a page during `work`. */
export async function watchWork (page: Page, work: () => Promise<void>): Promise<PageWork> {
  await page.evaluate(WATCH)
  await work()
  return page.evaluate<PageWork>('endOfWork()')
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
