import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { absoluteRow, ratioRow, type Row } from '../compare.ts'
import { memoryOf } from '../proc.ts'
import { NAMES } from '../subjects.ts'
import { REQUEST, withBoth, type Context } from './context.ts'

const TOKENS = 2_000
const STREAMS = 32
/** V8 returns memory to the system after this time without requests, in milliseconds. */
const REST_MS = 10_000

/** Measures the memory after rounds of 32 streams at full speed, and the longest garbage collection pause during the load. */
export async function afterLoad ({ client, times }: Context): Promise<Row[]> {
  const watch = (dir: string) => ({ NODE_OPTIONS: `--require=${join(import.meta.dirname, '../gc-pauses.cjs')}`, GC_PAUSES: dir })
  return withBoth({ models: { tokens: TOKENS }, env: watch }, async (subjects, _models, dir) => {
    const rows: Array<Record<'atOnce' | 'later' | 'pause', number>> = []
    for (const name of NAMES) {
      const { port, pid } = subjects[name]
      for (let round = 0; round < times(9); round++) await client.streams({ port, ...REQUEST, count: STREAMS })
      const atOnce = memoryOf(pid).rss
      await sleep(REST_MS)
      rows.push({ atOnce, later: memoryOf(pid).rss, pause: Number(readFileSync(join(dir, `pause-${pid}`), 'utf8')) })
    }
    const of = (figure: 'atOnce' | 'later') => [{ floor: rows[0][figure], service: rows[1][figure] }]
    return [
      ratioRow({ what: 'RSS after a load of 32 streams', unit: 'MB', bar: 1.5 }, of('atOnce')),
      ratioRow({ what: 'RSS 10 s after it', unit: 'MB', bar: 1.5 }, of('later')),
      absoluteRow({ what: 'the longest pause for garbage under that load', unit: 'ms', bar: 10 }, rows[1].pause, rows[0].pause)
    ]
  })
}
