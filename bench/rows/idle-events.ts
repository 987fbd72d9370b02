import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { absoluteRow } from '../compare.ts'
import { memoryOf } from '../proc.ts'
import { percentile } from '../stats.ts'
import { createHome, startSubject } from '../subjects.ts'
import type { Context } from './context.ts'

const CLIENTS = 1_000
const AT_ONCE = 50
/** The wait until the warm-up is over, as in the row of idle memory, in milliseconds. */
const SETTLE_MS = 4_000

/** Measures `/health` and the memory with 1,000 idle clients of the task events, and without clients. */
export async function idleEvents ({ beside, times }: Context) {
  const { dir, remove } = createHome({})
  const { port, pid, stop } = await startSubject('service', { dir, url: 'http://127.0.0.1:9/v4/ai' })
  const sockets: Socket[] = []
  const listen = async () => {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
    sockets.push(socket)
    socket.write(`GET /tasks/events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
    const [head] = await once(socket, 'data')
    if (!String(head).startsWith('HTTP/1.1 200')) throw new Error(`the events were answered ${head}`)
  }
  const health = async () =>
    percentile((await beside.poll({ port, path: '/health', everyMs: 10, forMs: times(10) * 1_000 })).latencies, 0.99)
  try {
    await sleep(SETTLE_MS)
    const alone = await health()
    const before = memoryOf(pid).rss
    while (sockets.length < CLIENTS) await Promise.all(Array.from({ length: AT_ONCE }, listen))
    const among = await health()
    return [
      absoluteRow({ what: '1,000 idle event clients: /health p99', unit: 'ms', bar: 50 }, among, alone),
      absoluteRow({ what: '1,000 idle event clients: memory', unit: 'MB', bar: 20 }, memoryOf(pid).rss - before)
    ]
  } finally {
    for (const socket of sockets) socket.destroy()
    await stop()
    remove()
  }
}
