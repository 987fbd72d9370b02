import { absoluteRow, type Row } from '../compare.ts'
import { cpuOf } from '../proc.ts'
import { median, percentile } from '../stats.ts'
import { createHome, startModels, startSubject } from '../subjects.ts'
import type { Context } from './context.ts'

const LONG = 20_000
/** Each message has about 100 tokens by the service's estimate. */
const WORDS = 'The sea has many voices, and each of them says another thing to who stands at its shore and listens. '.repeat(4).trim()
const TOKENS = 20
/**
 * Context lengths in tokens, and the number of messages in the short thread: about as many as the model receives of the long thread. The
 * lengths are that of 100 messages, and that assumed for the gateway's models.
 */
const WINDOWS = [{ window: 16_000, short: 100 }, { window: 200_000, short: 900 }]

const messages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ role: n % 2 === 0 ? 'user' : 'assistant', content: `${n} ${WORDS}` }))
const NEW = { role: 'user', content: 'And what does it say to me?' }
const LONG_BODY = JSON.stringify({ messages: messages(LONG) })
const allOf = (count: number, id: string) => JSON.stringify({ id, messages: [...messages(count), NEW] })

/**
 * Compares the time to the first text in a thread of 20,000 messages with that in a short thread, of which the model receives about as many
 * messages. Also compares the latency of /health during the long thread with that of an idle service. A request with all messages has 9 MB;
 * its rows are only informative.
 */
export async function longThread ({ client, beside, times }: Context): Promise<Row[]> {
  const rows: Row[] = []
  for (const { window, short: count } of WINDOWS) {
    const shortBody = JSON.stringify({ messages: messages(count) })
    const home = createHome({ contextWindows: { test: window }, models: { fast: 'test/fast' } })
    const models = await startModels({ tokens: TOKENS })
    const { port, pid, stop } = await startSubject('service', { dir: home.dir, url: models.url })
    try {
      const put = async (id: string, body: string) => {
        const { status } = await fetch(`http://127.0.0.1:${port}/threads/${id}`, {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body
        })
        if (status !== 200) throw new Error(`PUT /threads/${id} answered ${status}`)
      }
      const first = async (body: string) => (await client.streams({ port, path: '/run', body, count: 1 })).first[0]
      let nth = 0
      const ways: Record<string, Record<'long' | 'short', () => Promise<number>> & { bar?: number }> = {
        'the new message sent': {
          bar: 1.5,
          long: () => first(JSON.stringify({ id: 'long', message: NEW })),
          // Each request uses another short thread, because its answer lengthens the thread.
          short: () => first(JSON.stringify({ id: `short-${nth++}`, message: NEW }))
        },
        'all messages sent': { long: () => first(allOf(LONG, 'all-long')), short: () => first(allOf(count, 'all-short')) }
      }
      await put('long', LONG_BODY)
      for (let n = 0; n < times(30) + 10; n++) await put(`short-${n}`, shortBody)
      for (const [way, { long, short, bar }] of Object.entries(ways)) {
        for (let warm = 0; warm < 10; warm++) await short()
        for (let warm = 0; warm < 3; warm++) await long()
        const figures: Array<{ long: number, short: number }> = []
        const cpu = { long: 0, short: 0 }
        const spending = async (which: 'long' | 'short', measure: () => Promise<number>) => {
          const before = cpuOf(pid)
          const ms = await measure()
          cpu[which] += cpuOf(pid) - before
          return ms
        }
        for (let turn = 0; turn < times(30); turn++) {
          figures.push({ short: await spending('short', short), long: await spending('long', long) })
        }
        const ratios = figures.map((figure) => figure.long / figure.short).toSorted((a, b) => a - b)
        const what = `a window of ${window / 1_000}k tokens, ${way}`
        const pass = (ratio: number) => bar === undefined || ratio <= bar
        rows.push({
          what: `20,000 messages to ${count}, ${what}`,
          unit: 'ms',
          ...(bar !== undefined && { bar }),
          floor: median(figures.map((figure) => figure.short)),
          service: median(figures.map((figure) => figure.long)),
          ratio: median(ratios),
          ratios,
          pass: pass(median(ratios))
        })

        const [floor, service] = [cpu.short, cpu.long].map((spent) => spent / figures.length)
        rows.push({
          what: `the same, CPU, ${what}`,
          unit: 'ms',
          ...(bar !== undefined && { bar }),
          floor,
          service,
          ratio: service / floor,
          pass: pass(service / floor)
        })

        const { latencies: idle } = await beside.poll({ port, path: '/health', everyMs: 5, forMs: times(2) * 1_000 })
        const over = new AbortController()
        const load = (async () => {
          while (!over.signal.aborted) await long()
        })()
        const { latencies } = await beside.poll({ port, path: '/health', everyMs: 5, forMs: times(6) * 1_000 })
        over.abort()
        await load
        rows.push(
          absoluteRow(
            { what: `/health p99 beside 20,000 messages, ${what}`, unit: 'ms', bar: 50 },
            percentile(latencies, 0.99),
            percentile(idle, 0.99)
          )
        )
      }
    } finally {
      await Promise.all([stop(), models.stop()])
      home.remove()
    }
  }
  return rows
}
