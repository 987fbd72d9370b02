import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { createAgent } from '../../client/agent.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { openBrowser, watch } from './browser.ts'
import { startService, type Sidecar } from './sidecar.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type FixtureDirContent = NonNullable<Parameters<Test['testdir']>[0]>

interface Options {
  /** The model's answer to its n-th call, counted from 0. Without this function, the service has only the offline model. */
  reply?: (request: GatewayRequest, nth: number) => Plan | undefined | Promise<Plan | undefined>
  /** The model's answer to a structured call, such as `evaluation`; undefined gives a fixed answer. */
  structured?: (request: GatewayRequest) => Plan | undefined
  /** Added to config.json. */
  config?: object
  env?: NodeJS.ProcessEnv
  /** Files of the working folder. */
  work?: FixtureDirContent
}

interface Visit extends BrowserContextOptions {
  /** Errors in the browser console that the test causes on purpose. */
  expected?: RegExp
}

/**
 * Starts the built service with its console, and a browser. `visit` runs a test with a fresh page. It fails if the page writes an error to
 * its console, such as a violation of its content security policy, or contacts another host.
 */
export async function openConsole (t: Test, { reply, structured, config, env, work = {} }: Options = {}) {
  t.teardown(() => {})
  const settings = { analysis: false, threads: { titles: false }, ...reply && { model: 'test/model' }, ...config }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(settings) }, work })
  let calls = 0
  const gateway = reply && await startFakeGateway({
    reply: (request) => request.structured === undefined ? reply(request, calls++) : structured?.(request)
  })
  if (gateway) t.teardown(() => gateway.close())
  const start = (port = '0') => startService(t, {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    port,
    env: { ...gateway && { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }, ...env }
  })
  let service = await start()
  const { url } = service
  const browser = await openBrowser(t)

  return {
    url,
    browser,
    gateway,
    home: `${dir}/home`,
    work: `${dir}/work`,
    /** For requests to the service in addition to those of the page. */
    agent: createAgent({ url, token: env?.LOCAL_AGENT_TOKEN }),
    service: (): Sidecar => service,
    /** Starts the stopped service again at the same address. */
    async restart () {
      service = await start(new URL(url).port)
    },
    visit: (name: string, body: (t: Test, page: Page) => Promise<void>, { expected, ...context }: Visit = {}) =>
      t.test(name, (t) => visit(t, browser, url, { expected, ...context }, body))
  }
}

async function visit (
  t: Test,
  browser: Browser,
  url: string,
  { expected, ...options }: Visit,
  body: (t: Test, page: Page) => Promise<void>
) {
  // Endless animations are redrawn all the time: half of the work of a waiting page.
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  // A very busy machine needs this long to show a page.
  page.setDefaultTimeout(30_000)
  const { hosts, complaints } = watch(page)
  try {
    await body(t, page)
  } catch (error) {
    // The text of the page says more about a failure than the element that was waited for.
    t.comment((await page.locator('body').innerText().catch(() => '')).slice(0, 3_000))
    throw error
  } finally {
    t.same(complaints.filter((text) => !expected?.test(text)), [], 'the console of the browser is silent')
    t.same([...hosts].filter((host) => host !== new URL(url).host), [], 'no other host is asked')
    await context.close()
  }
}

/** Returns the texts of rows of a conversation that overlap the row before them. */
export const overlaps = (page: Page) => page.evaluate<string[]>(
  `[...document.querySelectorAll('.message-row')].flatMap((row, at, rows) =>
    at > 0 && row.getBoundingClientRect().top < rows[at - 1].getBoundingClientRect().bottom - 1 ? row.innerText : [])`
)

/**
 * Returns what a page cuts off or covers: texts that reach beyond the screen or their clipping box without a title that holds the whole
 * text, and controls that overlap. Content of elements that scroll sideways is ignored.
 */
export const cutOff = (page: Page) => page.evaluate<string[]>(`(() => {
  const found = new Set()
  const isHidden = (element) => !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest('.skip')
  /** What can be seen of a box, in the boxes that scroll or clip it. */
  const seen = (element) => {
    let { left, right, top, bottom } = element.getBoundingClientRect()
    let isAbove = false
    for (let box = element; box !== document.documentElement; box = box.parentElement) {
      const { overflowX, overflowY, position, clipPath } = getComputedStyle(box)
      if (clipPath !== 'none') return undefined
      isAbove ||= position === 'fixed' || position === 'sticky'
      if (box === element || (overflowX === 'visible' && overflowY === 'visible')) continue
      const edges = box.getBoundingClientRect()
      left = Math.max(left, edges.left)
      right = Math.min(right, edges.right)
      top = Math.max(top, edges.top)
      bottom = Math.min(bottom, edges.bottom)
    }
    return { left, right, top, bottom, isAbove }
  }
  const words = (element) => (element.innerText || element.ariaLabel || element.outerHTML).trim().slice(0, 80)
  const describe = (element) => words(element) + ' <' + element.className + '>'
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.add('the page scrolls sideways')
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement
    if (!node.data.trim() || isHidden(element) || element.closest('option, [title]') || seen(element) === undefined) continue
    range.selectNodeContents(node)
    const { left, right } = range.getBoundingClientRect()
    if (right - left < 1) continue
    for (let box = element; ; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box)
      if (overflowX === 'auto' || overflowX === 'scroll') break
      const edges = box === document.documentElement ? { left: 0, right: innerWidth } : box.getBoundingClientRect()
      if ((box === document.documentElement || overflowX !== 'visible') && (left < edges.left - 1 || right > edges.right + 1)) {
        found.add('cut: ' + describe(element))
        break
      }
      if (box === document.documentElement) break
    }
  }
  const dialog = document.querySelector('[role=dialog], [role=alertdialog]')
  const controls = [...(dialog ?? document).querySelectorAll('button, a, input, select, textarea')].filter((element) => !isHidden(element))
  for (const element of controls) {
    const isWide = element.matches('button') && element.scrollWidth > element.clientWidth + 1
    if (isWide && !element.title) found.add('wider than its button: ' + describe(element))
  }
  const boxes = controls.map((element) => [element, seen(element)]).filter(([, box]) => box !== undefined)
  boxes.forEach(([one, a], at) => {
    for (const [other, b] of boxes.slice(at + 1)) {
      if (one.contains(other) || other.contains(one) || a.isAbove !== b.isAbove) continue
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      if (width > 1 && height > 1) found.add('overlap: ' + describe(one) + ' and ' + describe(other))
    }
  })
  return [...found]
})()`)

/** The message field of the chat. */
export const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

/**
 * Sends a message when no run is active: otherwise a run that is about to end would get it, and a message that the run refuses is sent
 * again.
 */
export async function say (page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await steer(page, text)
}

/** Sends a message to the run that is active or waits. */
export async function steer (page: Page, text: string): Promise<void> {
  await message(page).fill(text)
  await message(page).press('Enter')
}

/**
 * Presses a guarded button by the mouse or a key, after it has kept its place and its focus for the time that such a button demands.
 * Presses it a second time if the button says that it has moved, for example because an item above it has disappeared.
 */
export async function press (button: Locator, key?: string): Promise<void> {
  // Scrolls to the button, and finds it again if the page replaces it in the meantime.
  await button.click({ trial: true })
  if (key !== undefined) await button.focus()
  await button.evaluate((element: any) => new Promise<void>((resolve) => {
    let place: string
    let since: number
    // Polled by a timer, because a loop of animation frames makes the browser draw each of them.
    const look = setInterval(() => {
      const { x, y } = element.getBoundingClientRect()
      if (place !== `${x} ${y}`) since = performance.now()
      place = `${x} ${y}`
      if (performance.now() - since > 700) {
        clearInterval(look)
        resolve()
      }
    }, 20)
  }))
  await (key === undefined ? button.click() : button.page().keyboard.press(key))
  if (await button.locator('xpath=..').getByText('Press it again').count() > 0) await press(button, key)
}

/** Returns the violations that axe finds on a page, as `<rule>: <elements>`. */
export async function axe (page: Page): Promise<string[]> {
  if (!await page.evaluate('"axe" in window')) await page.evaluate(AXE)
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ').slice(0, 500)))`)
}

/** The screens on which every page must work: narrow and wide, in the light and the dark theme. */
export const SCREENS = [
  { name: 'light, wide', colorScheme: 'light', size: { width: 1280, height: 800 } },
  { name: 'dark, 360 px', colorScheme: 'dark', size: { width: 360, height: 740 } }
] as const

/** Shows the page as on another screen, without a reload. */
export async function showOn (page: Page, { colorScheme, size }: typeof SCREENS[number]) {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize(size)
}
