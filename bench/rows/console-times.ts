import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { byTurns, ratioRow, type Row } from '../compare.ts'
import { MESSAGES, openPage, putQuestions, tokensOfAnswer, withConsole } from '../console-page.ts'
import { median } from '../stats.ts'
import type { Context } from './context.ts'

const FEW_MESSAGES = 20
const KEYS = 30
/** The length of the answer during which the typing is measured, in tokens, and its rate in tokens per second, as of a fast model. */
const TOKENS = 50_000
const RATE = 50

/**
 * Resolves to the time of the frame in which the expression `isThere` becomes true, in milliseconds since the navigation or since `since`.
 */
const shownAt = (page: Page, isThere: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => requestAnimationFrame(function look () {
    if (${isThere}) setTimeout(() => resolve(performance.now()))
    else requestAnimationFrame(look)
  }))`)

/** Compares the time to the console's first paint, and to a usable message field, with the first paint of a page with one word. */
export function consolePaint ({ times }: Context): Promise<Row[]> {
  return withConsole({ text: 'Yes.' }, async ({ browser, baseUrl }) => {
    const bare = await startBarePage()
    const open = async (name: 'floor' | 'service') => {
      const page = await openPage(browser, name === 'floor' ? bare.url : baseUrl)
      await page.goto(name === 'floor' ? '/' : '/console/chat')
      const ready = await shownAt(page, 'document.querySelector("p, textarea")')
      await shownAt(page, 'performance.getEntriesByName("first-contentful-paint").length > 0')
      const paint = await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0].startTime')
      await page.close()
      return { paint, ready }
    }
    try {
      await open('service')
      const figures = await byTurns(times(9), open)
      const of = (figure: 'paint' | 'ready') => figures.map(({ floor, service }) => ({ floor: floor[figure], service: service[figure] }))
      return [
        ratioRow({ what: 'console: first paint, to a page of one word', unit: 'ms', bar: 3 }, of('paint')),
        ratioRow({ what: 'console: until one can write, to the same', unit: 'ms', bar: 5 }, of('ready'))
      ]
    } finally {
      bare.close()
    }
  })
}

/** Compares the time to open a conversation of 5,000 messages in a loaded console with that for one of twenty messages. */
export function consoleOpen ({ times }: Context): Promise<Row[]> {
  return withConsole({ text: 'Yes.' }, async ({ page, baseUrl }) => {
    const lengths = { floor: FEW_MESSAGES, service: MESSAGES }
    let opened = 0
    const open = async (name: 'floor' | 'service') => {
      const id = `${name}-${opened++}`
      await putQuestions(baseUrl, id, lengths[name])
      await page.goto('/console/chat')
      await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
      const since = await page.evaluate<number>(`history.pushState(null, '', '/console/chat/${id}'), performance.now()`)
      const last = `Question ${lengths[name] - 2}`
      return await shownAt(page, `[...document.querySelectorAll('.said')].some(({ textContent }) => textContent === '${last}')`) - since
    }
    await open('service')
    const figures = await byTurns(times(9), open)
    return [ratioRow({ what: 'console: a conversation of 5,000 messages opens, to one of 20', unit: 'ms', bar: 1.5 }, figures)]
  })
}

/** Compares the time from a key press to the frame with its letter, during a streaming answer, with the same in an idle conversation. */
export function consoleTyping ({ times }: Context): Promise<Row[]> {
  return withConsole({ text: tokensOfAnswer(TOKENS), partMs: 1_000 / RATE }, async ({ browser, baseUrl }) => {
    const pages = { floor: await openPage(browser, baseUrl), service: await openPage(browser, baseUrl) }
    for (const page of Object.values(pages)) {
      await page.goto('/console/chat')
      await page.evaluate(WATCH_KEYS)
    }
    const message = pages.service.getByRole('textbox', { name: 'Message', exact: true })
    await message.fill('Write as much as you can.')
    await message.press('Enter')
    await pages.service.getByText('Some words of the answer').first().waitFor()
    const figures = await byTurns(times(9), async (name) => {
      const page = pages[name]
      await page.bringToFront()
      await page.getByRole('textbox', { name: 'Message', exact: true }).focus()
      for (let n = 0; n < KEYS; n++) await page.keyboard.press('a')
      return median(await page.evaluate<number[]>('typed.splice(0)'))
    })
    return [ratioRow({ what: 'console: a key to its letter while an answer streams, to none', unit: 'ms', bar: 1.5 }, figures)]
  })
}

/** Records the time from each key press to the paint of the next frame; `typed` holds the milliseconds. */
const WATCH_KEYS = `(() => {
  window.typed = []
  addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => {
    setTimeout(() => typed.push(performance.now() - timeStamp))
  }), true)
})()`

/** Serves the smallest possible page from the smallest possible server. */
async function startBarePage (): Promise<{ url: string, close: () => void }> {
  const body = '<!doctype html><title>Floor</title><p>Floor</p>'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
