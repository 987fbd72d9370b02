import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'

/**
 * Time limit for the parts, in milliseconds. A part that exceeds it is abandoned: acknowledged data is on disk, and children
 * die with the service.
 */
const PARTS_MS = 2_800
/** Time limit for readers. The supervisor expects an exit within 5 s, and the store needs the rest. */
const READERS_MS = 3_600

export type Shutdown = ReturnType<typeof createShutdown>

/** Coordinates the shutdown of the service's parts. All parts begin at once, so that their waits do not add up. */
export function createShutdown ({ clock, log }: { clock: Clock, log: Pick<Log, 'warn'> }) {
  const begins: Array<() => unknown> = []
  let since: number | undefined
  const remaining = (ms: number) => Math.max((since ?? clock.awake()) + ms - clock.awake(), 0)

  return {
    /** Adds a part. The returned function waits until the part has closed or its time limit is over. */
    addPart (name: string, close: () => Promise<unknown>): () => Promise<void> {
      let closing: Promise<unknown> | undefined
      const begin = () => (closing ??= close())
      begins.unshift(begin)
      return async () => {
        if (await settlesWithin({ clock, ms: remaining(PARTS_MS) }, begin())) return
        log.warn({ part: name }, 'a part of the service did not shut down in time')
      }
    },

    /** Begins to close all parts, the last added first. */
    begin (): void {
      since ??= clock.awake()
      // Failures are reported to the callers that wait for the parts.
      for (const begin of begins) Promise.resolve(begin()).catch(() => {})
    },

    /** Closes all parts, and waits for them until they have closed or their time limit is over. */
    async closeParts (): Promise<void> {
      since ??= clock.awake()
      await settlesWithin({ clock, ms: remaining(PARTS_MS) }, Promise.allSettled(begins.map((begin) => begin())))
    },

    /** Returns how long, in milliseconds, readers may still take to receive the rest of their responses. */
    readersMs: (limitMs: number): number => Math.min(limitMs, remaining(READERS_MS))
  }
}
