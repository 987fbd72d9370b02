import { absoluteRow, type Row } from '../compare.ts'
import { MESSAGES, putQuestions, tokensOfAnswer, watchWork, withConsole, type PageWork } from '../console-page.ts'

const TOKENS = 200_000
/** The maximum number of rows that a page may have in its document. */
const MOST_ROWS = 200
const MOST_LONG_TASKS = 10

const IS_AT_BEGINNING = `document.querySelector('.messages').scrollTop === 0 &&
  [...document.querySelectorAll('.said')].some(({ textContent }) => textContent === 'Question 0')`

/**
 * Counts the tasks of more than 50 ms of CPU time, and the rows in the document, of the chat in Chromium: while an answer of 200,000 tokens
 * streams at full speed, and while the user scrolls a thread of 5,000 messages from end to beginning.
 */
export function consoleChat (): Promise<Row[]> {
  return withConsole({ text: tokensOfAnswer(TOKENS) }, async ({ browser, page, baseUrl }) => {
    await page.goto('/console/chat')
    const message = page.getByRole('textbox', { name: 'Message', exact: true })
    await message.fill('Write as much as you can.')
    const streaming = await watchWork(browser, page, async () => {
      await message.press('Enter')
      await page.getByRole('button', { name: 'Answer again' }).waitFor()
    })

    await putQuestions(baseUrl, 'long', MESSAGES)
    await page.goto('/console/chat/long')
    await page.getByText(`Question ${MESSAGES - 2}`, { exact: true }).waitFor()
    const scrolling = await watchWork(browser, page, async () => {
      await page.mouse.move(800, 300)
      while (!await page.evaluate(IS_AT_BEGINNING)) {
        for (let n = 0; n < 20; n++) await page.mouse.wheel(0, -3_000)
      }
    })
    return [...rowsOf(`while ${TOKENS.toLocaleString('en')} tokens stream`, streaming), ...rowsOf('while 5,000 messages scroll', scrolling)]
  })
}

const rowsOf = (when: string, { longTasks, rows }: PageWork): Row[] => [
  absoluteRow({ what: `chat: tasks of more than 50 ms of CPU ${when}`, unit: 'tasks', bar: MOST_LONG_TASKS }, longTasks),
  absoluteRow({ what: `chat: rows in the document ${when}`, unit: 'rows', bar: MOST_ROWS }, rows)
]
