import { createInterface } from 'node:readline'
import { systemClock } from '../services/lib/clock.ts'
import { createDesktopActions } from '../services/tools/desktop/control/acts.ts'
import type { Answer, Order } from '../services/tools/desktop/control/desktop-rpc.ts'

/**
 * Controls the screen, mouse and keyboard in a separate process, because robotjs ends its process on some errors. See
 * services/tools/desktop/control/desktop.ts.
 */
async function serve () {
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
}

function answer (message: Answer) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

void serve()
