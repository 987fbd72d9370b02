import type { Log } from '../../lib/log.ts'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { repeatRounds } from '../../lib/rounds.ts'
import { isBudgetError } from '../../usage/index.ts'
import type { ThreadRepository } from '../../threads/index.ts'
import type { ExtractionBrake, ExtractionFailure } from './extraction-brake.ts'
import { type Extractor, ModelFailed } from './extractor.ts'

/** How long a thread must have no new message to count as idle, by default; milliseconds. */
const IDLE_MS = 10 * 60 * 1000
/** The longest pause between two rounds; milliseconds. */
const ROUND_MS = 60 * 1000
/** The most threads that one round skips because their models pause. */
const MOST_SKIPPED = 100

/**
 * Returns how an extraction failed. A failure that the model did not cause counts as unreadable, because the thread might have caused it.
 */
function failureOf (error: unknown): ExtractionFailure {
  if (isBudgetError(error)) return 'budget'
  return error instanceof ModelFailed && error.kind === 'unavailable' ? 'unavailable' : 'unreadable'
}

/**
 * Creates the service that extracts statements from idle threads, one after the other. The store records which
 * threads are unread, so a restart forgets none. A thread with an active run is read after the run has ended.
 */
export function createIdleThreads ({ threads, extractor, clock, isLive, isBusy, modelOf, brake, after, log }: {
  threads: Pick<ThreadRepository, 'unreadThreads' | 'unread' | 'markRead'>
  extractor: Extractor
  clock: Clock
  isLive: (id: string) => boolean
  /** True if a run uses the local server of this model, so that the extraction would have to wait. */
  isBusy: (model: string) => Promise<boolean>
  /** Returns the id of the model that reads a thread. */
  modelOf: (id: string) => Promise<string>
  brake: () => Promise<ExtractionBrake>
  /** Returns the setting `brain.extractAfter`: the idle time in milliseconds, or false for no extraction. */
  after: () => number | false | undefined
  log: Pick<Log, 'warn'>
}) {
  /** Extracts statements from one thread. Logs every failure except a used-up budget. Resolves to false if the round must end. */
  async function extractFrom (id: string, model: string, signal: AbortSignal): Promise<boolean> {
    const { recordRead, recordSuccess, recordFailure } = await brake()
    await recordRead()
    try {
      await extractor.extract(id, { signal, since: 'last' })
      await recordSuccess(id)
      return true
    } catch (error) {
      if (signal.aborted || abortKind(error) !== undefined) return false
      const failure = failureOf(error)
      if (failure !== 'budget') log.warn({ err: error, model }, 'the extraction of facts from a thread failed; its model pauses')
      if (await recordFailure(id, model, failure)) await threads.markRead(id, await threads.unread(id))
      return false
    }
  }

  /** Extracts statements from the threads that are idle now. Resolves to the time until the next round, in milliseconds. */
  async function round (signal: AbortSignal): Promise<number> {
    const idleMs = after() ?? IDLE_MS
    if (idleMs === false) return ROUND_MS
    const { waitMs, modelPauseMs, isThreadPaused } = await brake()
    let skipped = 0
    for await (const { id, time } of threads.unreadThreads(signal)) {
      const due = time + idleMs - clock.now()
      if (due > 0) return Math.min(due, ROUND_MS)
      if (isLive(id) || isThreadPaused(id)) continue
      const model = await modelOf(id)
      const pauseMs = modelPauseMs(model)
      if (pauseMs > 0 && ++skipped > MOST_SKIPPED) return pauseMs
      if (pauseMs > 0) continue
      if (await isBusy(model)) continue
      if (waitMs() > 0) return waitMs()
      if (!await extractFrom(id, model, signal)) return ROUND_MS
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
