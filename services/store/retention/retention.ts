import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeOfId } from '../../lib/ids.ts'
import { repeatRounds } from '../../lib/rounds.ts'
import {
  APPROVALS,
  COMMAND_FILES,
  COMPOSED,
  CONVERSATIONS,
  DECIDED,
  DECIDED_OF,
  DIGEST_SEEN,
  IDEMPOTENCY,
  OPEN_APPROVALS,
  RUN_INPUTS,
  TASK_ORIGINS
} from '../keys.ts'
import type { Op, Store } from '../store-types.ts'

/** A year in days. */
const YEAR = 365
const DAY = 24 * 60 * 60 * 1000
const SWEEP_EVERY_MS = 6 * 60 * 60 * 1000
/** Operations per transaction. */
const BATCH = 200

/**
 * The number of days for which records are kept whose key ends with a generated id, so that they sort by age. Other records have other
 * rules: approvals and events of tasks are removed with their runs; records of runs and events of conversations hold the answers, and are
 * removed with their thread or task.
 */
const BY_ID = { [DECIDED]: YEAR, [APPROVALS]: 7, [RUN_INPUTS]: 7 }
/**
 * Records whose age is in a field: the last change of the conversation, the time of the answer, the creation of the task, the expiry of the
 * approval.
 */
const BY_FIELD = {
  [CONVERSATIONS]: { field: 'updatedAt', days: 90 },
  [IDEMPOTENCY]: { field: 'at', days: 1 },
  [COMPOSED]: { field: 'at', days: YEAR },
  [COMMAND_FILES]: { field: 'at', days: 90 },
  [DIGEST_SEEN]: { field: 'at', days: YEAR },
  [DECIDED_OF]: { field: 'at', days: YEAR },
  [TASK_ORIGINS]: { field: 'at', days: 90 },
  [OPEN_APPROVALS]: { field: 'expiresAt', days: 7 }
}
/** Days that threads without a client-chosen name are kept; only the list of threads refers to them. */
const UNNAMED_DAYS = 90

/** Deletes records that are no longer needed, so that the store does not grow without limit. */
export function createRetention ({ store, clock, log, prune, owners = [] }: {
  store: Store,
  clock: Clock,
  log: Pick<Log, 'warn'>,
  /** Removes the unnamed threads last changed before a time. Resolves to their number. */
  prune?: (limit: number, signal?: AbortSignal) => Promise<number>
  /** Services that remove their records by rules of their own. */
  owners?: Array<{ sweep(signal?: AbortSignal): Promise<void> }>
}) {
  /** Removes all expired records. Resolves to their number. */
  async function sweep (signal?: AbortSignal): Promise<number> {
    let removed = 0
    let ops: Op[] = []
    const remove = async (key: string) => {
      ops.push({ type: 'del', key })
      removed++
      if (ops.length >= BATCH) await flush()
    }
    const flush = async () => {
      const batch = ops
      ops = []
      await store.transact(batch)
    }
    for (const [prefix, days] of Object.entries(BY_ID)) {
      const limit = clock.now() - days * DAY
      for await (const key of store.keys(prefix)) {
        signal?.throwIfAborted()
        if (timeOfId(key.slice(prefix.length)) > limit) break
        await remove(key)
      }
    }
    for (const [prefix, { field, days }] of Object.entries(BY_FIELD)) {
      const limit = clock.now() - days * DAY
      // The age of a damaged record is unknown; it is kept and must not stop the sweep.
      for await (const [key, value] of store.list<Record<string, number>>(prefix, { signal, damaged () {} })) {
        if (value[field] <= limit) await remove(key)
      }
    }
    await flush()
    const failures: unknown[] = []
    for (const owner of owners) {
      signal?.throwIfAborted()
      // A failure of one service, such as a file that is in use, must not stop the others.
      await owner.sweep(signal).catch((error) => failures.push(error))
    }
    removed += await prune?.(clock.now() - UNNAMED_DAYS * DAY, signal) ?? 0
    if (failures.length > 0) throw failures[0]
    return removed
  }

  return {
    sweep,
    /** Sweeps every 6 hours until the signal aborts. */
    run: (signal: AbortSignal): Promise<void> =>
      repeatRounds(() => sweep(signal).then(() => SWEEP_EVERY_MS), {
        ...{ clock, log, signal, retryMs: SWEEP_EVERY_MS },
        failure: 'old records could not be removed; trying again later'
      })
  }
}
