import { absoluteRow, byTurns, ratioRow } from '../compare.ts'
import { cpuOf } from '../proc.ts'
import { median, percentile } from '../stats.ts'
import { REQUEST, withBoth, type Context } from './context.ts'

const STREAMS = 32
const RATE = 50
/** The number of tokens per stream. Each stream takes ten seconds. */
const TOKENS = 500

/** Measures 32 streams at the pace of a real model: the delay of tokens, the CPU time, and the latency of /health during the load. */
export async function paced ({ client, beside, times }: Context) {
  return withBoth({ models: { tokens: TOKENS, rate: RATE, stamp: true } }, async (subjects) => {
    const forMs = TOKENS / RATE * 1000
    const turns = await byTurns(times(5), async (name) => {
      const { port, pid } = subjects[name]
      const cpu = cpuOf(pid)
      const [{ lags, tokens }, { latencies }] = await Promise.all([
        client.streams({ port, ...REQUEST, count: STREAMS, stamped: true }),
        beside.poll({ port, path: '/health', everyMs: 50, forMs })
      ])
      if (lags.length !== TOKENS * STREAMS || tokens !== lags.length) throw new Error(`${lags.length} stamps in ${tokens} tokens came`)
      return { lag: percentile(lags, 0.95), cpu: cpuOf(pid) - cpu, health: percentile(latencies, 0.99) }
    })
    const of = (figure: 'lag' | 'cpu' | 'health') => turns.map(({ floor, service }) => ({ floor: floor[figure], service: service[figure] }))
    const health = of('health')
    return [
      ratioRow({ what: '32 streams at 50 tokens/s: lag p95', unit: 'ms', bar: 0.5 }, of('lag')),
      ratioRow({ what: '32 streams at 50 tokens/s: CPU', unit: 'ms', bar: 0.55 }, of('cpu')),
      absoluteRow(
        { what: '/health p99 under 32 paced runs', unit: 'ms', bar: 20 },
        median(health.map(({ service }) => service)),
        median(health.map(({ floor }) => floor))
      )
    ]
  })
}
