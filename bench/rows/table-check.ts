import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { absoluteRow, type Row } from '../compare.ts'
import { fillStore } from '../large-store.ts'
import { mainThreadCpu } from '../proc.ts'
import { createHome, startSubject } from '../subjects.ts'
import type { Context } from './context.ts'

const BYTES = 500e6
/** The duration of the measurement in milliseconds; the check reads at most 32 MB per second. */
const CHECK_MS = 30_000

/** Measures the CPU time of the main thread in the half minute after a start, with a store of 500 MB whose tables were never checked. */
export async function tableCheck (_context: Context): Promise<Row[]> {
  const measure = async (bytes: number) => {
    const { dir, remove } = createHome({})
    try {
      if (bytes > 0) await fillStore(join(dir, 'home'), bytes)
      const { pid, stop } = await startSubject('service', { dir, url: 'http://127.0.0.1:9/v4/ai' })
      const before = mainThreadCpu(pid)
      await sleep(CHECK_MS)
      const took = mainThreadCpu(pid) - before
      await stop()
      return took
    } finally {
      remove()
    }
  }
  const [empty, full] = [await measure(0), await measure(BYTES)]
  const what = 'a store of 500 MB: CPU of the main thread in 30 s after a start, to an empty one'
  return [absoluteRow({ what, unit: 'ms', bar: empty + 100 }, full, empty)]
}
