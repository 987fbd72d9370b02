import { chromium } from 'playwright-core'
import { putThread } from '../../client/generated/index.ts'
import { createClient } from '../../client/create-client.ts'
import { startFakeGateway } from '../../test/fakes/gateway.ts'
import { CHROMIUM, FLAGS } from '../../test/harness/browser.ts'
import { absoluteRow, type Row } from '../compare.ts'
import { partOfAnswer, tokensOfAnswer, watchWork, type PageWork } from '../console-page.ts'
import { createHome, startSubject } from '../subjects.ts'

const TOKENS = 200_000
const MESSAGES = 5_000
/** The most rows that a page may have in its document. */
const MOST_ROWS = 200
const MOST_LONG_TASKS = 10

const IS_AT_BEGINNING = `document.querySelector('.messages').scrollTop === 0 &&
  [...document.querySelectorAll('.said')].some(({ textContent }) => textContent === 'Question 0')`

const messages = Array.from({ length: MESSAGES }, (_, n) => ({
  id: `m${n}`,
  role: n % 2 === 0 ? 'user' : 'assistant',
  parts: [{ type: 'text', text: n % 2 === 0 ? `Question ${n}` : partOfAnswer(n) }]
}))

/**
 * Counts the tasks of more than 50 ms of CPU time, and the rows in the document, of the chat in Chromium: while an answer of 200,000
 * tokens streams as fast as it is taken, and while the user scrolls a thread of 5,000 messages from its end to its beginning.
 */
export async function consoleChat (): Promise<Row[]> {
  const home = createHome({ threads: { titles: false } })
  const plan = { text: tokensOfAnswer(TOKENS) }
  const gateway = await startFakeGateway({ record: false, reply: () => plan })
  const { port, stop } = await startSubject('service', { dir: home.dir, url: gateway.url })
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  try {
    const baseUrl = `http://127.0.0.1:${port}`
    const page = await browser.newPage({ baseURL: baseUrl, viewport: { width: 1280, height: 800 } })
    page.setDefaultTimeout(300_000)
    await page.goto('/console/chat')
    const message = page.getByRole('textbox', { name: 'Message', exact: true })
    await message.fill('Write as much as you can.')
    const streaming = await watchWork(browser, page, async () => {
      await message.press('Enter')
      await page.getByRole('button', { name: 'Answer again' }).waitFor()
    })

    await putThread({ client: createClient({ baseUrl }), path: { id: 'long' }, body: { messages }, throwOnError: true })
    await page.goto('/console/chat/long')
    await page.getByText(`Question ${MESSAGES - 2}`, { exact: true }).waitFor()
    const scrolling = await watchWork(browser, page, async () => {
      await page.mouse.move(800, 300)
      while (!await page.evaluate(IS_AT_BEGINNING)) {
        for (let n = 0; n < 20; n++) await page.mouse.wheel(0, -3_000)
      }
    })
    return [...rowsOf(`while ${TOKENS.toLocaleString('en')} tokens stream`, streaming), ...rowsOf('while 5,000 messages scroll', scrolling)]
  } finally {
    await browser.close()
    await stop()
    await gateway.close()
    home.remove()
  }
}

const rowsOf = (when: string, { longTasks, rows }: PageWork): Row[] => [
  absoluteRow({ what: `chat: tasks of more than 50 ms of CPU ${when}`, unit: 'tasks', bar: MOST_LONG_TASKS }, longTasks),
  absoluteRow({ what: `chat: rows in the document ${when}`, unit: 'rows', bar: MOST_ROWS }, rows)
]
