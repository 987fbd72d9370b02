import type { Clock } from '../lib/clock.ts'
import { timeOfId } from '../lib/ids.ts'
import type { Op, Store } from '../store/store-types.ts'

const DAY = 24 * 60 * 60 * 1000
const SWEEP_EVERY_MS = 6 * 60 * 60 * 1000
/** Operations that are written together. */
const BATCH = 200

/** Records under ids of ours, which sort by age; questions are answered or expired long before. */
const BY_ID = { 'open-approval/': 7, 'approval/': 7, 'run-input/': 7, 'run/': 7 }
/** Records under other keys, aged by a time in them: when the conversation last changed, when the answer was given, the task was made. */
const BY_FIELD = {
  'conversation/': { field: 'updatedAt', days: 90 },
  'idempotency/': { field: 'at', days: 1 },
  'thread-run/': { field: 'at', days: 7 },
  'task-origin/': { field: 'at', days: 90 }
}
/** Threads that no client has named: nobody but their list knows of them. */
const UNNAMED_DAYS = 90

/** Forgets what nobody can need any more, so that the store does not grow for ever. */
export function createRetention ({ store, clock, log, prune }: {
  store: Store,
  clock: Clock,
  log: { warn(details: object, message: string): void },
  /** Removes the unnamed threads that changed last before a time; resolves to how many. */
  prune?: (limit: number, signal?: AbortSignal) => Promise<number>
}) {
  /** Removes everything that is past its time; resolves to how many records that were. */
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
      // How old a damaged one is nobody can tell; it stays, and holds up no other.
      for await (const [key, value] of store.list<Record<string, number>>(prefix, { signal, damaged () {} })) {
        if (value[field] <= limit) await remove(key)
      }
    }
    await flush()
    return removed + (await prune?.(clock.now() - UNNAMED_DAYS * DAY, signal) ?? 0)
  }

  return {
    sweep,
    /** Sweeps now and then until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await sweep(signal).catch((error) => {
          if (!signal.aborted) log.warn({ err: error }, 'old records could not be removed; trying again later')
        })
        await clock.sleep(SWEEP_EVERY_MS, signal).catch(() => {})
      }
    }
  }
}
