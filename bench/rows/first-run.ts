import { setTimeout as sleep } from 'node:timers/promises'
import type { Row } from '../compare.ts'
import { median } from '../stats.ts'
import { createHome, startModels, startSubject } from '../subjects.ts'
import { REQUEST, type Context } from './context.ts'

const BAR = 3
const AFTER_READY_MS = 2_500
/** The number of runs between the first run and the later runs, and of later runs. */
const BETWEEN = 30
const LATER = 11
const FIRST_MS = 20_000

/** Compares the first run of a service, 2.5 s after its ready line, with a later run. Each repetition is a new process. */
export async function firstRun ({ client, times }: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  const models = await startModels({ tokens: 20 })
  const measure = async (livesMs = 0) => {
    const { port, stop } = await startSubject('service', { dir, url: models.url })
    const run = async () => (await client.streams({ port, ...REQUEST, count: 1 })).ms
    try {
      await sleep(AFTER_READY_MS)
      const first = await run()
      for (let n = 0; n < BETWEEN; n++) await run()
      const later: number[] = []
      for (let n = 0; n < LATER; n++) later.push(await run())
      await sleep(livesMs)
      return { first, later: median(later) }
    } finally {
      await stop()
    }
  }
  try {
    // The first start of a build stores its bytecode, and after 20 s also the bytecode that runs need.
    await measure(FIRST_MS)
    const figures = []
    for (let n = 0; n < times(11); n++) figures.push(await measure())
    const ratios = figures.map(({ first, later }) => first / later).toSorted((a, b) => a - b)
    return [{
      what: 'first run 2.5 s after ready, to a run later',
      unit: 'ms',
      bar: BAR,
      floor: median(figures.map(({ later }) => later)),
      service: median(figures.map(({ first }) => first)),
      ratio: median(ratios),
      ratios,
      pass: median(ratios) <= BAR
    }]
  } finally {
    await models.stop()
    remove()
  }
}
