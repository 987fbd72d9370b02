import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { putThread } from '../../client/generated/index.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { partOfAnswer } from '../../bench/console-page.ts'
import { noBrowser } from '../harness/browser.ts'
import { openConsole, overlaps, say } from '../harness/console.ts'

/** The number of the first paragraph, greater than those of questions. */
const FIRST = 10_000
const WORDS = `${'Some words that go on. '.repeat(12)}\n\n`
const paragraphs = (count: number) => Array.from({ length: count }, (_, n) => `Paragraph ${FIRST + n}. ${WORDS}`)

function reply ({ body }: GatewayRequest): Plan {
  const last = body.prompt.at(-1)
  if (last.role === 'tool') return { text: 'That is done.' }
  const said = JSON.stringify(last.content)
  if (said.includes('slow')) {
    // It lasts for nine minutes: longer than a busy machine takes to read on in it.
    const [begin, rest] = [paragraphs(60), paragraphs(2_000).slice(60)]
    return { text: [begin.join(''), ...rest.flatMap((text) => text.match(/(?:\S+\s*){1,6}/g) ?? [])], partMs: 25 }
  }
  if (said.includes('list')) return { text: paragraphs(20).join(''), toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
  return { text: paragraphs(40).join('') }
}

/** What is at the top of the view: the number of a paragraph or question, and how far it is from the top, px. */
interface Place {
  number: number
  offset: number
}

/** Functions of the page. Places are looked at when a frame is painted, as the user sees them. */
const READER = `(() => {
  const area = document.querySelector('.messages')
  const numbered = () => [...area.querySelectorAll('p, .said')].flatMap((element) => {
    const number = /^(?:Paragraph|Question) (\\d+)/.exec(element.textContent)?.[1]
    const { top, bottom } = element.getBoundingClientRect()
    return number === undefined ? [] : [{ number: Number(number), offset: top - area.getBoundingClientRect().top, height: bottom - top }]
  })
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve()
    port2.postMessage(undefined)
  }))
  const first = () => numbered().find(({ offset, height }) => offset + height > 0)
  const until = async (isSo, what) => {
    for (let frames = 0; frames < 500; frames++) {
      await painted()
      if (isSo()) return
    }
    throw new Error('It never happened: ' + what + ', at ' + JSON.stringify([first(), area.scrollTop, area.scrollHeight]))
  }
  window.reader = {
    /** The place of the reader, once it has stayed the same for 5 frames. */
    async rest () {
      let last
      let still = 0
      await until(() => {
        const now = first()
        still = now !== undefined && now.number === last?.number && Math.abs(now.offset - last.offset) < 1 ? still + 1 : 0
        last = now
        return still === 5
      }, 'the view rests')
      return last
    },
    number: () => first()?.number ?? Infinity,
    offsetOf: (number) => numbered().find((each) => each.number === number)?.offset,
    fromEnd: () => area.scrollHeight - area.scrollTop - area.clientHeight,
    isAtBeginning: () => area.scrollTop === 0,
    /** Resolves when the answer has come to a paragraph. */
    comesTo: (number) => until(() => numbered().at(-1)?.number >= number, 'the answer comes to ' + number),
    /** Resolves when later numbers are at the top. */
    passes: (number) => until(() => first()?.number > number, 'later numbers than ' + number + ' are at the top'),
    /** Resolves when something is this far down, px. */
    movesTo: (number, offset) => until(() => window.reader.offsetOf(number) >= offset, number + ' moves to ' + offset),
    /** Resolves when the end, which grows, was followed for three paragraphs. */
    async follows () {
      await until(() => first() !== undefined, 'something is in view')
      const { number } = first()
      await until(() => first()?.number >= number + 3, 'the end is followed')
    },
    /** Collects the numbers at the top of all painted frames until they are asked for. */
    watch () {
      const numbers = []
      let isOver = false
      const look = async () => {
        while (!isOver) {
          await painted()
          const now = first()
          if (now !== undefined) numbers.push(now.number)
        }
      }
      void look()
      window.reader.watched = () => {
        isOver = true
        return numbers
      }
    },
    rows: () => area.querySelectorAll('.message-row').length,
    /** From now on until the scrolling ends. */
    scrolls () {
      const ended = new Promise((resolve) => area.addEventListener('scrollend', resolve, { once: true }))
      window.reader.scrolled = () => ended
    }
  }
})()`

const rest = (page: Page) => page.evaluate<Place>('reader.rest()')

/** Does something that scrolls. Returns what is at the top when it rests. */
async function scrolled (page: Page, scroll: () => Promise<void>): Promise<Place> {
  await page.evaluate('reader.scrolls()')
  await scroll()
  await page.evaluate('reader.scrolled()')
  return rest(page)
}

/** Does something that scrolls. Returns how far down the content has moved, px, when it rests. */
async function movedBy (page: Page, scroll: () => Promise<void>): Promise<number> {
  const { number, offset } = await rest(page)
  await scrolled(page, scroll)
  return Math.round(await page.evaluate<number>(`reader.offsetOf(${number})`) - offset)
}

/** Moves a finger over the middle of the page, as the screen reports it. */
async function swipe (page: Page, by: number) {
  const session = await page.context().newCDPSession(page)
  // Beside the button that leads to the end, which lies over the messages.
  const x = 60
  const y = by > 0 ? 140 : 540
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
  for (let step = 1; step <= 8; step++) {
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: y + by * step / 8 }] })
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await session.detach()
}

const near = (t: Test, expected: number, actual: number, what: string) =>
  t.ok(Math.abs(actual - expected) <= 2, `${what}: by ${actual} px of ${expected}`)

t.test('the reader scrolls a conversation', { skip: noBrowser }, async (t) => {
  const console = await openConsole(t, { reply })
  const { visit } = console
  const begin = async (page: Page, text: string) => {
    await page.goto('/console/chat')
    await page.getByText('Ask a question').waitFor()
    await page.evaluate(READER)
    await say(page, text)
    await page.evaluate(`reader.comesTo(${FIRST + 40})`)
  }

  await visit('by wheel and keys, while an answer streams and after it, and the end is followed only there', async (t, page) => {
    await begin(page, 'slow')
    await page.evaluate('reader.follows()')
    await page.mouse.move(640, 300)
    const wheel = (by: number) => () => page.mouse.wheel(0, by)
    const press = (key: string) => () => page.keyboard.press(key)

    await page.mouse.wheel(0, -30)
    await rest(page)
    t.pass('the smallest movement leaves the end')
    for (const when of ['while it streams', 'after it']) {
      await page.mouse.move(640, 300)
      for (const by of [-100, -300, 100]) near(t, -by, await movedBy(page, wheel(by)), `the wheel by ${by} ${when}`)
      const messages = page.getByRole('region', { name: 'Messages' })
      await messages.focus()
      const view = await page.evaluate<number>("document.querySelector('.messages').clientHeight")
      near(t, 40, await movedBy(page, press('ArrowUp')), `the arrow up ${when}`)
      near(t, -40, await movedBy(page, press('ArrowDown')), `the arrow down ${when}`)
      for (const key of ['PageUp', 'Shift+Space']) near(t, view * 0.875, await movedBy(page, press(key)), `${key} ${when}`)
      near(t, -view * 0.875, await movedBy(page, press('PageDown')), `the page down ${when}`)
      await page.keyboard.press('Home')
      await rest(page)
      t.ok(await page.evaluate('reader.isAtBeginning()'), `the beginning ${when}`)
      await page.keyboard.press('End')
      if (when === 'after it') break

      await page.evaluate('reader.follows()')
      await page.keyboard.press('ArrowUp')
      await rest(page)
      await page.mouse.wheel(0, 100_000)
      await page.evaluate('reader.follows()')
      await page.getByRole('textbox', { name: 'Message', exact: true }).press('PageUp')
      await rest(page)
      await page.getByRole('button', { name: 'Go to the newest message' }).click()
      await page.evaluate('reader.follows()')
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.getByText('This answer was stopped.').waitFor()
    }
    await rest(page)
    t.ok(await page.evaluate<number>('reader.fromEnd()') < 1)
  })

  await visit('by touch on a narrow screen, in a conversation of 1,200 messages, where nothing else moves', async (t, page) => {
    const messages = Array.from({ length: 1_200 }, (_, n) => ({
      id: `m${n}`,
      role: n % 2 === 0 ? 'user' : 'assistant',
      parts: [{ type: 'text', text: n % 2 === 0 ? `Question ${n}` : partOfAnswer(n) }]
    }))
    await putThread({ client: console.agent.client, path: { id: 'long' }, body: { messages }, throwOnError: true })
    await page.goto('/console/chat/long')
    await page.getByText('Question 1198', { exact: true }).waitFor()
    await page.evaluate(READER)
    await rest(page)

    await page.evaluate('reader.watch()')
    do {
      await swipe(page, 390)
      const rows = await page.evaluate<number>('reader.rows()')
      t.ok(rows < 200, `${rows} rows are in the document`)
      t.same(await overlaps(page), [], 'no row lies on another')
    } while (await page.evaluate<number>('reader.number()') > 1_140)
    await rest(page)
    const numbers = await page.evaluate<number[]>('reader.watched()')
    const steps = numbers.slice(1).map((number, at) => numbers[at] - number)
    t.ok(Math.min(...steps) >= 0, 'whoever scrolls up comes to earlier messages, also while they are loaded and measured')
    t.ok(Math.max(...steps) < 50, 'and to one after the other')

    const { number } = await rest(page)
    await swipe(page, -390)
    await page.evaluate(`reader.passes(${number})`)
    await rest(page)
    const toEnd = page.getByRole('button', { name: 'Go to the newest message' })
    await toEnd.tap()
    await page.getByText('Question 1198', { exact: true }).waitFor()
    await say(page, 'slow')
    await page.evaluate(`reader.comesTo(${FIRST + 20})`)
    await page.evaluate('reader.follows()')
    // Until the movement has come to the page, the answer moves the view on, and what it scrolls by itself ends, too.
    await swipe(page, 100)
    await toEnd.waitFor()
    const place = await rest(page)
    await swipe(page, 300)
    await page.evaluate(`reader.movesTo(${place.number}, ${place.offset + 200})`)
    t.pass('up, while an answer streams')
    while (await toEnd.count() > 0) await swipe(page, -390)
    await page.evaluate('reader.follows()')
  }, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
})
