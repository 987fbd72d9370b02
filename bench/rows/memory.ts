import { setTimeout as sleep } from 'node:timers/promises'
import { byTurns, packedRows } from '../compare.ts'
import { memoryOf } from '../proc.ts'
import { createHome, startSubject, type Name } from '../subjects.ts'
import type { Context } from './context.ts'

const SETTLE_MS = 4_000
const ALL: Name[] = ['floor', 'plain', 'service']

/** Measures the resident memory of the whole process tree, a few seconds after a start without requests. */
export async function idleMemory ({ times }: Context) {
  const { dir, remove } = createHome({})
  const measure = async (name: Name) => {
    const { pid, stop } = await startSubject(name, { dir, url: 'http://127.0.0.1:9/v4/ai' })
    await sleep(SETTLE_MS)
    const { rss } = memoryOf(pid)
    await stop()
    return rss
  }
  try {
    for (const name of ALL) await measure(name)
    return packedRows({ what: 'idle memory (RSS)', unit: 'MB', bar: 1.1 }, await byTurns(times(5), measure, ALL))
  } finally {
    remove()
  }
}
