import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { StoreLog, StoreStatus } from './store-types.ts'
import type { Database, RawOp } from './database.ts'
import { explain, isCorrupt, rootOf, StoreUnavailable } from './store-errors.ts'
import { PROBE } from './record-names.ts'
import { createWriter } from './writer.ts'

/** Large enough that a disk with next to nothing left does not pass. */
const PROBE_BYTES = 64 * 1024
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 10_000

interface Collaborators {
  database: Database
  reopen: () => Promise<Database>
  clock: Clock
  log: StoreLog | undefined
  /** Told how many bytes were written. */
  wrote?: (bytes: number) => void
  /** Told when LevelDB cannot go on for what it has read: opening it again does not help. */
  corrupted?: (reason: string) => void
}

export type Engine = ReturnType<typeof createEngine>

/**
 * The open database behind a latch. After a failed write LevelDB takes further ones as if nothing had happened and
 * loses them when it is opened next, so the first failure stops everything: what waits fails, and so does every later
 * call, until the database has been closed and opened again and has kept a probe.
 */
export function createEngine ({ database, reopen, clock, log, wrote, corrupted }: Collaborators) {
  const closing = new AbortController()
  const spoiling = new AbortController()
  /** Opening the database again is of no more use. */
  const hopeless = AbortSignal.any([closing.signal, spoiling.signal])
  const writer = createWriter(write)
  let state: StoreStatus['state'] = 'ok'
  let reason: string | undefined
  let epoch = 0
  let corrupt = false
  let recovery: Promise<void> | undefined
  let closed: Promise<boolean> | undefined

  async function write (ops: RawOp[]): Promise<void> {
    try {
      await database.batch(ops, { sync: true })
      wrote?.(ops.reduce((sum, op) => sum + (op.type === 'put' ? op.value.length : 0), 0))
    } catch (error) {
      latch(error)
      throw unavailable()
    }
  }

  function latch (error: unknown): void {
    if (spoiling.signal.aborted) return
    reason = explain(error)
    if (rootOf(error).code === 'LEVEL_CORRUPTION' && corrupted) return corrupted(reason)
    log?.error({ err: rootOf(error) }, 'a write failed, the store is not available until the disk takes writes again')
    epoch++
    state = 'latched'
    recovery = recover()
  }

  function spoil (why: string): void {
    if (state === 'closed') return
    spoiling.abort()
    reason = why
    epoch++
    state = 'latched'
  }

  async function recover (): Promise<void> {
    for (let wait = FIRST_RETRY_MS; !hopeless.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      try {
        await database.close() // a second opening beside an open one would drop LevelDB's lock
        database = await reopen()
        await probe(database)
        if (hopeless.aborted) return
        state = 'ok'
        reason = undefined
        log?.info({}, 'the store is available again')
        return
      } catch (error) {
        if (!spoiling.signal.aborted) reason = explain(error)
        log?.warn({ err: rootOf(error), wait }, 'the store is still not available')
        await clock.sleep(wait, hopeless).catch(() => {})
      }
    }
  }

  async function end (): Promise<boolean> {
    closing.abort()
    await writer.idle()
    await recovery
    const isWhole = state === 'ok'
    state = 'closed'
    reason = undefined
    await database.close()
    return isWhole
  }

  function unavailable () {
    return new StoreUnavailable(closing.signal.aborted ? 'it is closed' : reason ?? 'it was opened again meanwhile')
  }

  function assertOk (): void {
    if (state !== 'ok' || closing.signal.aborted) throw unavailable()
  }

  return {
    /** Runs a read. Fails while latched, also when the latch fell during the read. */
    async read<T> (operation: (database: Database) => Promise<T>): Promise<T> {
      assertOk()
      const began = epoch
      try {
        return await operation(database)
      } catch (error) {
        if (state !== 'ok' || epoch !== began) throw unavailable()
        corrupt ||= isCorrupt(error)
        if (rootOf(error).code !== 'LEVEL_CORRUPTION' || corrupted === undefined) {
          throw new StoreUnavailable(explain(error), { cause: error })
        }
        corrupted(explain(error))
        throw unavailable()
      }
    },
    /** Resolves when `ops` are on disk, all of them. */
    async write (ops: RawOp[]): Promise<void> {
      assertOk()
      await writer.push(ops)
    },
    /** Refuses everything from now on, for that reason: only a start can mend it. */
    spoil,
    /** Changes whenever what was read before may no longer be what is stored. */
    epoch: () => epoch,
    status: (): StoreStatus => ({
      state,
      ...(state !== 'ok' && reason !== undefined && { error: reason }),
      ...(corrupt && { damaged: true })
    }),
    /** Lets accepted writes finish. Resolves to whether the database was fit for more. */
    close (): Promise<boolean> {
      closed ??= end()
      return closed
    }
  }
}

async function probe (database: Database): Promise<void> {
  const value = randomBytes(PROBE_BYTES)
  await database.batch([{ type: 'put', key: PROBE, value }], { sync: true })
  if (!(await database.get(PROBE))?.equals(value)) throw new Error('a probe was not read back')
  await database.batch([{ type: 'del', key: PROBE }], { sync: true })
}
