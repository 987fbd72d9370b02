import { absoluteRow, byTurns, ratioRow } from '../compare.ts'
import { percentile } from '../stats.ts'
import { REQUEST, withBoth, type Context } from './context.ts'

const TOKENS = 2_000
const WARM_UP = 10

/** Measures tokens per second at the client, with a model that never waits. */
async function throughput (
  { client, times }: Context,
  { what, count, bar, rounds, turns }: { what: string, count: number, bar: number, rounds: number, turns: number }
) {
  return withBoth({ models: { tokens: TOKENS } }, async (subjects) => {
    const rate = async (port: number) => {
      const { tokens, ms } = await client.streams({ port, ...REQUEST, count })
      if (tokens !== TOKENS * count) throw new Error(`${tokens} tokens came instead of ${TOKENS * count}`)
      return tokens / ms * 1000
    }
    for (const { port } of Object.values(subjects)) {
      for (let warm = 0; warm < WARM_UP; warm++) await client.streams({ port, ...REQUEST, count: Math.min(count, 8) })
    }
    const figures = await byTurns(times(turns), async (name) => {
      const all: number[] = []
      for (let round = 0; round < rounds; round++) all.push(await rate(subjects[name].port))
      return percentile(all, 0.5)
    })
    return [ratioRow({ what, unit: 'tokens/s', bar, atLeast: true }, figures)]
  })
}

export const oneStream = (context: Context) =>
  throughput(context, { what: 'one stream of 2,000 tokens', count: 1, bar: 10, rounds: 5, turns: 11 })
export const manyStreams = (context: Context) =>
  throughput(context, { what: '32 streams of 2,000 tokens', count: 32, bar: 7, rounds: 1, turns: 9 })

/** Measures the slowest of a hundred /health responses while 32 streams run at full speed. */
export async function healthSaturated ({ client, beside, times }: Context) {
  return withBoth({ models: { tokens: TOKENS } }, async (subjects) => {
    const p99 = async (port: number) => {
      const over = new AbortController()
      const load = (async () => {
        while (!over.signal.aborted) await client.streams({ port, ...REQUEST, count: 32 })
      })()
      const { latencies } = await beside.poll({ port, path: '/health', everyMs: 5, forMs: times(10) * 1000 })
      over.abort()
      await load
      return percentile(latencies, 0.99)
    }
    return [
      absoluteRow(
        { what: '/health p99 when saturated', unit: 'ms', bar: 100 },
        await p99(subjects.service.port),
        await p99(subjects.floor.port)
      )
    ]
  })
}
