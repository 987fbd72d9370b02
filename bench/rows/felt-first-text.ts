import { absoluteRow } from '../compare.ts'
import { median } from '../stats.ts'
import { createHome, startModels, startSubject } from '../subjects.ts'
import { REQUEST, type Context } from './context.ts'

/** The time until the first byte of each model's answer, in milliseconds. */
const ANALYSIS_MS = 350
const CAPABLE_MS = 700
const WARM_UP = 5

/** Measures the time from a request to its first text as a user experiences it, with realistic delays of the analysis and the answer. */
export async function feltFirstText ({ client, times }: Context) {
  const { dir, remove } = createHome({ analysis: true })
  const models = await startModels({ tokens: 20, delay: CAPABLE_MS, structuredDelay: ANALYSIS_MS })
  const { port, stop } = await startSubject('service', { dir, url: models.url })
  try {
    const first = async () => (await client.streams({ port, ...REQUEST, count: 1 })).first[0]
    for (let n = 0; n < WARM_UP; n++) await first()
    const all: number[] = []
    for (let n = 0; n < times(15); n++) all.push(await first())
    return [absoluteRow({ what: 'felt first text: analysis 350 ms, model 700 ms', unit: 'ms', bar: 730 }, median(all))]
  } finally {
    await Promise.all([stop(), models.stop()])
    remove()
  }
}
