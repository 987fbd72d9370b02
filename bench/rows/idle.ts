import { setTimeout as sleep } from 'node:timers/promises'
import { absoluteRow, type Row } from '../compare.ts'
import { cpuExactly, wakeUpsOf } from '../proc.ts'
import { startSubject, createHome } from '../subjects.ts'
import type { Context } from './context.ts'

/**
 * The wait until the work after a start is over, in milliseconds: retention first runs after 60 s, and the first start of a build stores
 * compiled code for the last time after 120 s.
 */
const SETTLE_MS = 125_000
const MINUTE_MS = 60_000

/** Measures the service during a minute without requests: how often its threads wake up, and its CPU time. */
export async function idle (_context: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  const { pid, stop } = await startSubject('service', { dir, url: 'http://127.0.0.1:9/v4/ai' })
  try {
    await sleep(SETTLE_MS)
    const before = { wakeUps: wakeUpsOf(pid), cpu: cpuExactly(pid) }
    await sleep(MINUTE_MS)
    return [
      absoluteRow({ what: 'idle, from 125 s on: wake-ups a minute', unit: '', bar: 15 }, wakeUpsOf(pid) - before.wakeUps),
      absoluteRow({ what: 'the same, CPU a minute', unit: 'ms', bar: 3 }, cpuExactly(pid) - before.cpu)
    ]
  } finally {
    await stop()
    remove()
  }
}
