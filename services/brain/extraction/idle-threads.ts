import type { Log } from '../../lib/log.ts'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { repeatRounds } from '../../lib/rounds.ts'
import type { Extractor } from './extractor.ts'
import { isBudgetError } from '../../usage/index.ts'
import type { ThreadRepository } from '../../threads/index.ts'

/** Default time without a message after which a thread is idle; milliseconds. */
const IDLE_MS = 10 * 60 * 1000
/** Longest pause between two rounds; milliseconds. */
const ROUND_MS = 60 * 1000
/** Pause after a failed extraction; milliseconds. */
const RETRY_MS = 30 * 60 * 1000
/** Failed extractions after which a thread is skipped until it changes. */
const MAX_ATTEMPTS = 3

/**
 * Extracts statements from idle threads, one after the other. The store records which threads are unread, so a restart
 * forgets none. A thread with an active run waits until the run has ended.
 */
export function createIdleThreads ({ threads, extractor, clock, isLive, after, log }: {
  threads: Pick<ThreadRepository, 'unreadThreads' | 'unread' | 'markRead'>
  extractor: Extractor
  clock: Clock
  isLive: (id: string) => boolean
  /** `brain.extractAfter`. */
  after: () => number | false | undefined
  log: Pick<Log, 'warn'>
}) {
  const failures = new Map<string, { count: number, until: number }>()

  /** Extracts from one thread. A failure is logged and does not stop the round; a budget that is used up is none. */
  async function extractFrom (id: string, signal: AbortSignal) {
    try {
      await extractor.extract(id, { signal, since: 'last' })
      failures.delete(id)
    } catch (error) {
      if (signal.aborted || abortKind(error) !== undefined) return
      if (isBudgetError(error)) {
        failures.set(id, { count: failures.get(id)?.count ?? 0, until: clock.now() + RETRY_MS })
        return
      }
      const count = (failures.get(id)?.count ?? 0) + 1
      log.warn({ err: error, attempt: count }, 'the extraction of facts from a thread failed')
      failures.set(id, { count, until: clock.now() + RETRY_MS })
      if (count < MAX_ATTEMPTS) return
      failures.delete(id)
      await threads.markRead(id, await threads.unread(id))
    }
  }

  /** Extracts from all threads that are idle now. Resolves to the time until the next thread is idle, at most ROUND_MS; milliseconds. */
  async function round (signal: AbortSignal): Promise<number> {
    const idleMs = after() ?? IDLE_MS
    if (idleMs === false) return ROUND_MS
    for await (const { id, time } of threads.unreadThreads(signal)) {
      const due = time + idleMs - clock.now()
      if (due > 0) return Math.min(due, ROUND_MS)
      if (!isLive(id) && (failures.get(id)?.until ?? 0) <= clock.now()) await extractFrom(id, signal)
    }
    return Math.min(idleMs, ROUND_MS)
  }

  return {
    round,
    /** Repeats rounds until the signal aborts. */
    run: (signal: AbortSignal): Promise<void> =>
      repeatRounds(round, { clock, log, signal, failure: 'the extraction of facts from idle threads failed; retrying', retryMs: ROUND_MS })
  }
}
