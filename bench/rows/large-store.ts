import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { ratioRow } from '../compare.ts'
import { fillStore } from '../large-store.ts'
import { createHome, freePort, spawnSubject } from '../subjects.ts'
import type { Context } from './context.ts'

const BYTES = 2 * 1024 ** 3
const NAMES = ['empty', 'large'] as const
type Name = typeof NAMES[number]

/** Measures the time from spawn to the ready line, alternately with a store of 2 GB and with an empty one. */
export async function largeStore ({ times }: Context) {
  const homes = { empty: createHome({}), large: createHome({}) }
  const start = async (name: Name, until: () => Promise<unknown>) => {
    const { dir } = homes[name]
    const began = performance.now()
    const { child, stop } = spawnSubject('service', { dir, port: await freePort(), url: 'http://127.0.0.1:9/v4/ai' })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the service ended with code ${code} before it was ready`)
    })
    ended.catch(() => {})
    await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])
    const took = performance.now() - began
    await until()
    await stop()
    return took
  }
  try {
    await fillStore(join(homes.large.dir, 'home'), BYTES)
    // Lets LevelDB finish its pending compactions, and reads every table once.
    await start('large', async () => {
      await sleep(10_000)
      while (hasUnchecked(homes.large.dir)) await sleep(500)
    })
    const turn = (name: Name) => start(name, () => sleep(700))
    for (const name of NAMES) for (let warm = 0; warm < 3; warm++) await turn(name)
    const figures = []
    for (let n = 0; n < times(15); n++) {
      const figure = {} as Record<Name, number>
      // The order alternates, so that no store is always first.
      for (const name of n % 2 === 0 ? NAMES : NAMES.toReversed()) figure[name] = await turn(name)
      figures.push({ floor: figure.empty, service: figure.large })
    }
    return [ratioRow({ what: 'store of 2 GB: spawn to ready, to an empty one', unit: 'ms', bar: 1.5 }, figures)]
  } finally {
    for (const { remove } of Object.values(homes)) remove()
  }
}

const hasUnchecked = (dir: string): boolean => {
  const folder = join(dir, 'home/data/unchecked')
  return existsSync(folder) && readdirSync(folder).length > 0
}
