import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Extractor } from './extraction.ts'
import type { ThreadRepository } from '../../threads/thread-repository.ts'

/** How long a thread rests before it is looked through, by default, and how often that is looked up at least; milliseconds. */
const REST_MS = 10 * 60 * 1000
const LOOK_MS = 60 * 1000
/** After a failure a thread is left alone for so long, and after so many for good, until it changes. */
const RETRY_MS = 30 * 60 * 1000
const ATTEMPTS = 3

export interface IdleThreadsParts {
  threads: Pick<ThreadRepository, 'unreadThreads' | 'unread' | 'markRead'>
  extractor: Extractor
  clock: Clock
  isLive: (id: string) => boolean
  /** `brain.extractAfter`. */
  after: () => number | false | undefined
  log: { warn(details: object, message: string): void }
}

/**
 * Looks through threads that have rested, one after the other. Which they are is on disk, so a restart forgets none;
 * those under a run are left until that has ended.
 */
export function createIdleThreads ({ threads, extractor, clock, isLive, after, log }: IdleThreadsParts) {
  const failures = new Map<string, { count: number, until: number }>()

  /** Looks through one thread; whatever becomes of it, the next has its turn. */
  async function look (id: string, signal: AbortSignal) {
    try {
      await extractor.extract(id, { signal, since: 'last' })
      failures.delete(id)
    } catch (error) {
      if (signal.aborted || abortKind(error) !== undefined) return
      const count = (failures.get(id)?.count ?? 0) + 1
      log.warn({ err: error, attempt: count }, 'a thread could not be looked through for facts')
      failures.set(id, { count, until: clock.now() + RETRY_MS })
      if (count < ATTEMPTS) return
      failures.delete(id)
      await threads.markRead(id, await threads.unread(id))
    }
  }

  /** All that have rested by now; resolves to how long nothing more will have, at most LOOK_MS. */
  async function round (signal: AbortSignal): Promise<number> {
    const rest = after() ?? REST_MS
    if (rest === false) return LOOK_MS
    for await (const { id, time } of threads.unreadThreads(signal)) {
      const due = time + rest - clock.now()
      if (due > 0) return Math.min(due, LOOK_MS)
      if (!isLive(id) && (failures.get(id)?.until ?? 0) <= clock.now()) await look(id, signal)
    }
    return Math.min(rest, LOOK_MS)
  }

  return {
    round,
    /** Goes on until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const pause = await round(signal).catch((error) => {
          if (!signal.aborted) log.warn({ err: error }, 'threads could not be looked through for facts; trying again')
          return LOOK_MS
        })
        await clock.sleep(Math.max(pause, 1), signal).catch(() => {})
      }
    }
  }
}
