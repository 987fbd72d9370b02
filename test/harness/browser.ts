import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

/** Debian's; another one can be named. */
const WINDOWED = process.env.CHROMIUM || '/usr/bin/chromium'
/** The same engine without windows, which takes a quarter less time, where Debian's package of it is installed. */
const SHELL = '/usr/bin/chromium-headless-shell'
export const CHROMIUM = !process.env.CHROMIUM && existsSync(SHELL) ? SHELL : WINDOWED
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** Why a test that needs this browser cannot run here. In CI, which installs it, it must. */
const why = (path: string) => existsSync(path) || process.env.CI
  ? false
  : `needs Chromium at ${path}: apt-get install chromium, or set CHROMIUM`
export const noBrowser = why(CHROMIUM)
export const noWindow = why(WINDOWED)

/** A real browser, closed when the test ends. `flags` are added to its command line; with `env`, which names a display, it has a window. */
export async function openBrowser (
  t: { teardown(handler: () => unknown): unknown },
  flags: string[] = [],
  env?: NodeJS.ProcessEnv
): Promise<Browser> {
  const executablePath = env ? WINDOWED : CHROMIUM
  if (!existsSync(executablePath)) {
    throw new Error(`This test needs Chromium at ${executablePath}: apt-get install chromium, or set CHROMIUM to where it is.`)
  }
  const browser = await chromium.launch({
    executablePath,
    args: [...FLAGS, ...flags],
    ...env && { env: env as Record<string, string>, headless: false }
  })
  t.teardown(() => browser.close())
  return browser
}

/** What a page does that it should not: hosts it asks, and what its console complains of. */
export function watch (page: Page) {
  const hosts = new Set<string>()
  const complaints: string[] = []
  page.on('request', (request) => {
    if (/^(https?|wss?):/.test(request.url())) hosts.add(new URL(request.url()).host)
  })
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { hosts, complaints }
}
