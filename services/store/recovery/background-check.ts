import type { Clock } from '../../lib/clock.ts'
import type { StoreLog } from '../store-types.ts'
import { rootOf } from '../store-errors.ts'
import type { TableList } from './table-list.ts'

/** So slow that requests do not notice; 2 GB take about a minute. */
const BYTES_PER_SECOND = 32 * 1024 * 1024
/** Shorter pauses are saved up. */
const PAUSE_MS = 20
const RETRY_MS = 60_000
/** After so many bytes of writes the list on disk takes up the new tables: a start after a crash reads about as many. */
const NOTE_BYTES = 16 * 1024 * 1024

export type TableCheck = ReturnType<typeof createTableCheck>

/**
 * Reads in the background what the start took on trust, and keeps the list of tables up to date. `signal` ends that.
 * `spoil` makes the store refuse everything: it is told at once what must be done about damage.
 */
export function createTableCheck ({ tables, clock, log, signal, spoil }: {
  tables: TableList,
  clock: Clock,
  log: StoreLog | undefined,
  signal: AbortSignal,
  spoil: (reason: string) => void
}) {
  let isHurried = false
  let checking: Promise<void> | undefined
  let passing: Promise<void> | undefined
  let marking: Promise<void> | undefined
  let unnoted = 0

  function damaged (name: string, why: string): void {
    spoil(`${why}. Restart the service: it repairs what can be repaired as it starts, and keeps the damaged files`)
    marking = tables.markDamaged(name).catch((error) => log?.error({ err: error }, 'the damage could not be written down'))
  }

  /** Reads the tables that are due, until one is damaged. */
  async function round (): Promise<void> {
    let pause = 0
    for (const name of tables.due()) {
      const { bytes, isDamaged } = await tables.check(name, signal)
      if (isDamaged) {
        log?.error(
          { table: name },
          'a table of the database is damaged on the disk, the store is not available until the service is restarted'
        )
        return damaged(name, `the table ${name} of the database is damaged on the disk`)
      }
      pause += bytes / BYTES_PER_SECOND * 1000
      if (isHurried || pause < PAUSE_MS) continue
      await clock.sleep(pause, signal)
      pause = 0
    }
  }

  /** Takes up new tables and reads those that are due. While one is under way no other begins. */
  function pass (): Promise<void> {
    passing ??= (async () => {
      signal.throwIfAborted()
      unnoted = 0
      await tables.note(signal)
      if (tables.due().length === 0) return
      await round()
      await tables.note(signal)
    })().finally(() => {
      passing = undefined
    })
    return passing
  }

  const warn = (error: unknown) => {
    if (!signal.aborted) log?.warn({ err: rootOf(error) }, 'the tables of the database could not be checked, trying again later')
  }

  async function untilDone (): Promise<void> {
    while (!signal.aborted) {
      try {
        return await pass()
      } catch (error) {
        warn(error)
        await clock.sleep(RETRY_MS, signal).catch(() => {})
      }
    }
  }

  return {
    /** Checks every table that is due, once; further calls wait for the same. `isUrgent`: without pauses. Never rejects. */
    all ({ isUrgent = false } = {}): Promise<void> {
      isHurried ||= isUrgent
      checking ??= untilDone()
      return checking
    },
    /** To be told of what was written. */
    wrote (bytes: number): void {
      unnoted += bytes
      if (checking !== undefined && unnoted >= NOTE_BYTES) pass().catch(warn)
    },
    /** LevelDB has come across damage by itself. */
    metDamage (reason: string): void {
      log?.error({ reason }, 'the database came across damage on the disk, the store is not available until the service is restarted')
      damaged('unknown', `the database came across damage on the disk (${reason})`)
    },
    /** Resolves when nothing is read or written any more; the signal must have aborted. */
    async ended (): Promise<void> {
      await Promise.all([checking, passing?.catch(() => {}), marking])
    }
  }
}
