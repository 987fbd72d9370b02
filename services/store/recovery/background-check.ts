import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/clock.ts'
import { rootOf } from '../store-errors.ts'
import type { TableList } from './table-list.ts'

/** Slow enough not to delay requests; 2 GB take about a minute. */
const BYTES_PER_SECOND = 32 * 1024 * 1024
/** Pauses shorter than this are added up. */
const PAUSE_MS = 20
const RETRY_MS = 60_000
/** After this many written bytes, new tables are added to the manifest on disk: a start after a crash reads about as many bytes. */
const UPDATE_BYTES = 16 * 1024 * 1024

/**
 * Checks in the background the tables that the start trusted without reading, and keeps the manifest of tables up to date.
 * `signal` stops the checks. `disable` makes the store refuse all calls; its reason tells the user how to repair damage.
 */
export function createTableCheck ({ tables, clock, log, signal, disable }: {
  tables: TableList,
  clock: Clock,
  log: Log | undefined,
  signal: AbortSignal,
  disable: (reason: string) => void
}) {
  let isHurried = false
  let checking: Promise<void> | undefined
  let updating: Promise<void> | undefined
  let markingDamaged: Promise<void> | undefined
  let unlistedBytes = 0

  function damaged (name: string, why: string): void {
    disable(`${why}. Restart the service: it repairs what can be repaired as it starts, and keeps the damaged files`)
    markingDamaged = tables.markDamaged(name).catch((error) => log?.error({ err: error }, 'the damaged table could not be recorded'))
  }

  /** Checks the tables that are due and stops at the first damaged one. */
  async function checkDue (): Promise<void> {
    let pause = 0
    for (const name of tables.due()) {
      const { bytes, isDamaged } = await tables.check(name, signal)
      if (isDamaged) {
        log?.error(
          { table: name },
          'a table of the database is damaged on the disk; the store is unavailable until the service is restarted'
        )
        return damaged(name, `the table ${name} of the database is damaged on the disk`)
      }
      pause += bytes / BYTES_PER_SECOND * 1000
      if (isHurried || pause < PAUSE_MS) continue
      await clock.sleep(pause, signal)
      pause = 0
    }
  }

  /** Adds new tables to the manifest and checks the tables that are due. Only one update runs at a time. */
  function update (): Promise<void> {
    updating ??= (async () => {
      signal.throwIfAborted()
      unlistedBytes = 0
      await tables.note(signal)
      if (tables.due().length === 0) return
      await checkDue()
      await tables.note(signal)
    })().finally(() => {
      updating = undefined
    })
    return updating
  }

  const warn = (error: unknown) => {
    if (!signal.aborted) log?.warn({ err: rootOf(error) }, 'the tables of the database could not be checked, trying again later')
  }

  async function untilDone (): Promise<void> {
    while (!signal.aborted) {
      try {
        return await update()
      } catch (error) {
        warn(error)
        await clock.sleep(RETRY_MS, signal).catch(() => {})
      }
    }
  }

  return {
    /** Checks every table that is due, once; further calls wait for the same check. `isUrgent` skips the pauses. Never rejects. */
    all ({ isUrgent = false } = {}): Promise<void> {
      isHurried ||= isUrgent
      checking ??= untilDone()
      return checking
    },
    /** Counts written bytes. Call it after every write. */
    wrote (bytes: number): void {
      unlistedBytes += bytes
      if (checking !== undefined && unlistedBytes >= UPDATE_BYTES) update().catch(warn)
    },
    /** Handles damage that LevelDB itself detected. */
    handleCorruption (reason: string): void {
      log?.error({ reason }, 'the database found damage on the disk; the store is unavailable until the service is restarted')
      damaged('unknown', `the database found damage on the disk (${reason})`)
    },
    /** Resolves when all checks and writes have ended. The signal must have aborted before. */
    async ended (): Promise<void> {
      await Promise.all([checking, updating?.catch(() => {}), markingDamaged])
    }
  }
}
