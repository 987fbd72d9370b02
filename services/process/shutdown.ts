import type { Clock } from '../lib/clock.ts'

/** What is not over by then is left as it is: everything acknowledged is on disk, and a child dies with the service. */
const PARTS_MS = 2_800
/** The shell expects an end within 5 s, of which the store needs its own. */
const READERS_MS = 3_600

interface Log {
  warn(details: object, message: string): void
}

export type Shutdown = ReturnType<typeof createShutdown>

/** What has to come to its end with the service. All of it begins to at once, so that their waits do not add up. */
export function createShutdown ({ clock, log }: { clock: Clock, log: Log }) {
  const begins: Array<() => unknown> = []
  let since: number | undefined
  const left = (ms: number) => Math.max((since ?? clock.awake()) + ms - clock.awake(), 0)

  return {
    /** Adds a part. The function that it gives waits until the part is over, or the time for that is. */
    part (name: string, close: () => Promise<unknown>): () => Promise<void> {
      let over: Promise<unknown> | undefined
      const begin = () => (over ??= close())
      begins.unshift(begin)
      return async () => {
        const done = new AbortController()
        const late = clock.timeout(left(PARTS_MS), done.signal).then(() => log.warn({ part: name }, 'it did not end in time'), () => {})
        await Promise.race([begin(), late])
        done.abort()
      }
    },

    /** Begins to end all parts, those added last first. */
    begin (): void {
      since ??= clock.awake()
      // Whoever waits for a part hears of its failure.
      for (const begin of begins) Promise.resolve(begin()).catch(() => {})
    },

    /** How long readers may still take for the rest of their answers, milliseconds. */
    readersMs: (most: number): number => Math.min(most, left(READERS_MS))
  }
}
