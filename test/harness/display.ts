import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { noWindow, openBrowser } from './browser.ts'

type Test = { teardown(handler: () => unknown): unknown }

const XVFB = process.env.XVFB || '/usr/bin/Xvfb'

/** Why a test of the desktop cannot run here; false if it can. In CI, which installs the requirements, it must run. */
export const noDisplay = (process.platform !== 'linux' && 'needs an X server') || noWindow ||
  (existsSync(XVFB) || process.env.CI ? false : `needs Xvfb at ${XVFB}: apt-get install xvfb, or set XVFB`)

/** Starts a separate virtual X server; resolves to its display name. It ends when the test ends. */
export async function startDisplay (
  t: Test,
  { width, height } = { width: 800, height: 600 }
): Promise<{ name: string, stop(): Promise<unknown> }> {
  const server = spawn(XVFB, ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp', '-noreset'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe']
  })
  const exited = once(server, 'exit')
  const stop = () => {
    server.kill('SIGKILL')
    return exited
  }
  t.teardown(stop)
  const [number] = await Promise.race([
    once(server.stdio[3]!, 'data'),
    exited.then(() => {
      throw new Error('Xvfb ended')
    })
  ])
  return { name: `:${String(number).trim()}`, stop }
}

/** Opens a full-screen browser window with this page. `at` converts a place in the page to a pixel of the screen. */
export async function openWindow (
  t: Test,
  display: string,
  html: string
): Promise<{ page: Page, at(x: number, y: number): { x: number, y: number } }> {
  const browser = await openBrowser(t, ['--kiosk', '--test-type', '--window-position=0,0'], { ...process.env, DISPLAY: display })
  const page = await browser.newPage({ viewport: null })
  await page.setContent(html)
  // The page is at the bottom of the window.
  const top = await page.evaluate(() => (globalThis as any).outerHeight - (globalThis as any).innerHeight)
  return { page, at: (x, y) => ({ x, y: y + top }) }
}
