import { join } from 'node:path'
import { absoluteRow, byTurns, type Row } from '../compare.ts'
import { fillForSearch, QUERIES, RARE } from '../search-store.ts'
import { cpuOf } from '../proc.ts'
import { median, percentile } from '../stats.ts'
import { createHome, NAMES, startSubject, type Subject } from '../subjects.ts'
import type { Context } from './context.ts'

const THREADS = 5_000
/** How long searches are repeated while `/health` is measured, in milliseconds. */
const LOAD_MS = 10_000

interface Answer {
  results: Array<{ threadId: string }>
  nextCursor?: string
}

/**
 * Measures searches in 5,000 threads of 200 messages: for a word of the oldest message, for two words that few messages contain together,
 * and for a word that occurs nowhere. Measures the first results, all results page by page, the same right after a change, and `/health`
 * during searches.
 */
export async function search ({ beside, times }: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  try {
    await fillForSearch(join(dir, 'home'), { threads: THREADS, messages: 200 })
    const { port, stop } = await startSubject('service', { dir, url: 'http://127.0.0.1:9/v4/ai' })
    try {
      return await measure(port, { beside, times })
    } finally {
      await stop()
    }
  } finally {
    remove()
  }
}

/** The number of threads among which a word of one message is searched, for the service and for the floor. */
const STORES = { service: 20_000, floor: 200 }

/** Searches 20,000 threads of ten messages for a word of one message, alternately with a service that has 200 threads. */
export async function rareWord ({ times }: Context): Promise<Row[]> {
  const homes = { floor: createHome({}), service: createHome({}) }
  const services = {} as Record<keyof typeof STORES, Subject>
  try {
    for (const name of NAMES) {
      await fillForSearch(join(homes[name].dir, 'home'), { threads: STORES[name], messages: 10 })
      services[name] = await startSubject('service', { dir: homes[name].dir, url: 'http://127.0.0.1:9/v4/ai' })
    }
    const figures = await byTurns(times(60), async (name) => {
      const { port, pid } = services[name]
      const [begin, cpu] = [performance.now(), cpuOf(pid)]
      for (let n = 0; n < 10; n++) {
        const answer = await (await fetch(`http://127.0.0.1:${port}/search?q=${RARE}`)).json() as Answer
        if (answer.results.length !== 1) throw new Error(`"${RARE}" was found ${answer.results.length} times`)
      }
      return { ms: (performance.now() - begin) / 10, cpu: (cpuOf(pid) - cpu) / 10 }
    })
    const of = (name: keyof typeof STORES, what: 'ms' | 'cpu') => median(figures.map((each) => each[name][what]))
    return [
      absoluteRow({ what: 'search of a rare word, 20,000 threads, to 200', unit: 'ms', bar: 50 }, of('service', 'ms'), of('floor', 'ms')),
      absoluteRow({ what: 'the same, CPU a search', unit: 'ms', bar: 50 }, of('service', 'cpu'), of('floor', 'cpu'))
    ]
  } finally {
    for (const { stop } of Object.values(services)) await stop()
    for (const { remove } of Object.values(homes)) remove()
  }
}

/** Measures a listening service with such a store. */
async function measure (port: number, { beside, times }: Pick<Context, 'beside' | 'times'>): Promise<Row[]> {
  const ask = async (q: string, cursor?: string): Promise<Answer> => {
    const query = new URLSearchParams({ q, limit: '100', ...cursor !== undefined && { cursor } })
    const answer = await fetch(`http://127.0.0.1:${port}/search?${query}`)
    if (answer.status !== 200) throw new Error(`GET /search answered ${answer.status}`)
    return answer.json() as Promise<Answer>
  }
  /** Reads all pages. Returns the milliseconds to the first results (or to the end, if there are none), and to the end. */
  async function readAll (q: string, { expected }: { expected?: number } = {}) {
    const begin = performance.now()
    let first: number | undefined
    let count = 0
    for (let cursor: string | undefined, isOver = false; !isOver;) {
      const page = await ask(q, cursor)
      if (page.results.length > 0) first ??= performance.now() - begin
      count += page.results.length
      cursor = page.nextCursor
      isOver = cursor === undefined
    }
    if (expected !== undefined && count !== expected) throw new Error(`"${q}" was found ${count} times, not ${expected}`)
    const all = performance.now() - begin
    return { first: first ?? all, all }
  }
  const rowsOf = (what: string, figures: Array<{ first: number, all: number }>): Row[] => [
    absoluteRow({ what: `5,000 threads: first results, ${what}`, unit: 'ms', bar: 1_000 }, median(figures.map(({ first }) => first))),
    absoluteRow({ what: `5,000 threads: all results, ${what}`, unit: 'ms', bar: 10_000 }, median(figures.map(({ all }) => all)))
  ]
  const repeat = async (work: (n: number) => ReturnType<typeof readAll>) => {
    const figures = []
    for (let n = 0; n < times(9); n++) figures.push(await work(n))
    return figures
  }
  await readAll(QUERIES.both)
  const rows = [
    ...rowsOf('a word of the oldest message', await repeat(() => readAll('seldomword', { expected: 1 }))),
    ...rowsOf('two words', await repeat(() => readAll(QUERIES.both))),
    ...rowsOf('nothing', await repeat(() => readAll('nowhereatall', { expected: 0 }))),
    ...rowsOf('right after a change', await repeat(async (n) => {
      await fetch(`http://127.0.0.1:${port}/threads/bench-${2_000 + n}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: `freshword${n}` }] })
      })
      return readAll(`"freshword${n}"`, { expected: 1 })
    }))
  ]
  const end = performance.now() + LOAD_MS
  const searching = (async () => {
    while (performance.now() < end) await ask('nowhereatall')
  })()
  const { latencies } = await beside.poll({ port, path: '/health', everyMs: 10, forMs: LOAD_MS })
  await searching
  return [...rows, absoluteRow({ what: '/health p99 beside searches', unit: 'ms', bar: 50 }, percentile(latencies, 0.99))]
}
