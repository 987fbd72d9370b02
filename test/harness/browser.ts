import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

/** Debian's Chromium; the variable CHROMIUM can name another one. */
const WINDOWED = process.env.CHROMIUM || '/usr/bin/chromium'
/** The same browser engine without windows. It is a quarter faster, and is used if Debian's package for it is installed. */
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

/** Returns why a test that needs this browser cannot run here; false if it can. In CI, which installs the browser, it must run. */
const why = (path: string) => existsSync(path) || process.env.CI
  ? false
  : `needs Chromium at ${path}: apt-get install chromium, or set CHROMIUM`
export const noBrowser = why(CHROMIUM)
export const noWindow = why(WINDOWED)

/**
 * Opens a real browser, which is closed when the test ends. `flags` are added to its command line. If `env` is given, which names a
 * display, the browser has a window.
 */
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

/** Records misbehaviour of a page: the hosts that it contacts, and the errors in its console. */
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
