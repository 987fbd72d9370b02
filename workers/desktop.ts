import { createInterface } from 'node:readline'
import { systemClock } from '../services/lib/clock.ts'
import { createDesktopActions } from '../services/tools/desktop/control/acts.ts'
import type { Answer, Order } from '../services/tools/desktop/control/desktop-rpc.ts'

/** Screen, mouse and keyboard, a process of its own: robotjs ends it where something is wrong. See services/tools/desktop/control/desktop.ts. */
const { default: robot } = await import('robotjs').catch((error) => {
  answer({ error: `robotjs cannot be loaded: ${error.message.split('\n')[0]}` })
  process.exit()
})
const acts = createDesktopActions({ robot, platform: process.platform, environment: process.env, clock: systemClock })
let current = new AbortController()

createInterface({ input: process.stdin }).on('line', (line) => void obey(line)).on('close', () => process.exit())

async function obey (line: string) {
  const order = JSON.parse(line) as Order
  if ('stop' in order) return current.abort()
  current = new AbortController()
  try {
    answer({ output: await acts[order.act](order.input as never, current.signal) })
  } catch (error) {
    answer({ error: error instanceof Error ? error.message : String(error) })
  }
}

function answer (said: Answer) {
  process.stdout.write(`${JSON.stringify(said)}\n`)
}
