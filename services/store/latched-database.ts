import type { Log } from '../lib/log.ts'
import type { RawOp, Database } from './database.ts'
import { StoreBusy, explain, isCorrupt, rootOf, StoreUnavailable } from './store-errors.ts'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { StoreStatus } from './store-types.ts'
import { PROBE } from './record-names.ts'

interface Waiting {
  ops: RawOp[]
  bytes: number
  resolve: () => void
  reject: (error: Error) => void
}

/** Maximum size of a group, so that one synced write stays fast. */
const GROUP_BYTES = 4 * 1024 * 1024
/** Queue limits; a longer queue means that the disk does not keep up. */
const QUEUE_BYTES = 64 * 1024 * 1024
const QUEUE_BATCHES = 20_000
/** The estimated cost of an operation besides its value, in bytes. */
const OP_BYTES = 100

/**
 * Group commit: while one write runs, others queue up and are then written together, so that many writers share the cost of
 * one sync. A batch is never split. `write` must not reject for a reason of a single batch, because a failure fails its whole
 * group and the whole queue.
 */
function createWriter (write: (ops: RawOp[]) => Promise<void>) {
  let queue: Waiting[] = []
  let queuedBytes = 0
  let draining: Promise<void> | undefined

  function takeGroup (): Waiting[] {
    let bytes = queue[0].bytes
    let count = 1
    while (count < queue.length && bytes + queue[count].bytes <= GROUP_BYTES) bytes += queue[count++].bytes
    queuedBytes -= bytes
    return queue.splice(0, count)
  }

  async function drain (): Promise<void> {
    await undefined // writes of the same event-loop turn go out together
    while (queue.length > 0) {
      const group = takeGroup()
      try {
        await write(group.flatMap(({ ops }) => ops))
        for (const { resolve } of group) resolve()
      } catch (error) {
        const failed = [...group, ...queue]
        queue = []
        queuedBytes = 0
        for (const { reject } of failed) reject(error as Error)
      }
    }
    draining = undefined
  }

  return {
    /** Queues a batch. Resolves when it is on disk. Rejects with StoreBusy when the queue is full. */
    push (ops: RawOp[]): Promise<void> {
      const bytes = ops.reduce((sum, op) => sum + OP_BYTES + (op.type === 'put' ? op.value.length : 0), 0)
      const full = queue.length >= QUEUE_BATCHES || (queue.length > 0 && queuedBytes + bytes > QUEUE_BYTES)
      if (full) return Promise.reject(new StoreBusy())
      queuedBytes += bytes
      return new Promise((resolve, reject) => {
        queue.push({ ops, bytes, resolve, reject })
        draining ??= drain()
      })
    },
    /** Resolves when the queue is empty and no write runs. */
    async idle (): Promise<void> {
      await draining
    }
  }
}

/** The size of a probe in bytes: large enough to fail on a disk with almost no space left. */
const PROBE_BYTES = 64 * 1024
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 10_000

export type LatchedDatabase = ReturnType<typeof createLatchedDatabase>

/**
 * Guards the open database with a latch. After a failed write, LevelDB accepts further writes, but loses them when the database is opened
 * next. The first failure therefore fails all queued and all later calls, until the database was closed and reopened and a probe write
 * succeeded.
 */
export function createLatchedDatabase ({ database, reopen, clock, log, noteWork, onWritten, onCorruption }: {
  database: Database
  reopen: () => Promise<Database>
  clock: Clock
  log: Log | undefined
  /** Called before each write. */
  noteWork?: () => void
  /** Called with the number of bytes written. */
  onWritten?: (bytes: number) => void
  /** Called when LevelDB read corrupt data; opening the database again does not help. */
  onCorruption?: (reason: string) => void
}) {
  const closing = new AbortController()
  const disabling = new AbortController()
  /** Aborts when reopening the database is pointless. */
  const recoveryAborted = AbortSignal.any([closing.signal, disabling.signal])
  const writer = createWriter(write)
  let state: StoreStatus['state'] = 'ok'
  let reason: string | undefined
  let epoch = 0
  let corrupt = false
  let recovery: Promise<void> | undefined
  let closed: Promise<boolean> | undefined

  async function write (ops: RawOp[]): Promise<void> {
    noteWork?.()
    try {
      await database.batch(ops, { sync: true })
      onWritten?.(ops.reduce((sum, op) => sum + (op.type === 'put' ? op.value.length : 0), 0))
    } catch (error) {
      latch(error)
      throw unavailable()
    }
  }

  function latch (error: unknown): void {
    if (disabling.signal.aborted) return
    reason = explain(error)
    if (rootOf(error).code === 'LEVEL_CORRUPTION' && onCorruption) return onCorruption(reason)
    log?.error({ err: rootOf(error) }, 'a write failed; the store is unavailable until the disk accepts writes again')
    epoch++
    state = 'latched'
    recovery = recover()
  }

  function disable (cause: string): void {
    if (state === 'closed') return
    disabling.abort()
    reason = cause
    epoch++
    state = 'latched'
  }

  async function recover (): Promise<void> {
    for (let wait = FIRST_RETRY_MS; !recoveryAborted.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      try {
        await database.close() // opening a second handle beside an open one would release LevelDB's lock
        database = await reopen()
        await probe(database)
        if (recoveryAborted.aborted) return
        state = 'ok'
        reason = undefined
        log?.info({}, 'the store is available again')
        return
      } catch (error) {
        if (!disabling.signal.aborted) reason = explain(error)
        log?.warn({ err: rootOf(error), wait }, 'the store is still unavailable')
        await clock.sleep(wait, recoveryAborted).catch(() => {})
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
    return new StoreUnavailable(closing.signal.aborted ? 'it is closed' : reason ?? 'the database was reopened meanwhile')
  }

  function assertOk (): void {
    if (state !== 'ok' || closing.signal.aborted) throw unavailable()
  }

  return {
    /** Runs a read. Throws StoreUnavailable while latched, also when a write failed during the read. */
    async read<T> (operation: (database: Database) => Promise<T>): Promise<T> {
      assertOk()
      const began = epoch
      try {
        return await operation(database)
      } catch (error) {
        if (state !== 'ok' || epoch !== began) throw unavailable()
        corrupt ||= isCorrupt(error)
        if (rootOf(error).code !== 'LEVEL_CORRUPTION' || onCorruption === undefined) {
          throw Object.assign(new StoreUnavailable(explain(error)), { cause: error })
        }
        onCorruption(explain(error))
        throw unavailable()
      }
    },
    /** Writes all of `ops` atomically. Resolves when they are on disk. */
    async write (ops: RawOp[]): Promise<void> {
      assertOk()
      await writer.push(ops)
    },
    /** Latches the store permanently for the given reason: only a restart can repair the database. */
    disable,
    /** A counter that changes whenever cached values might no longer match the disk. */
    epoch: () => epoch,
    status: (): StoreStatus => ({
      state,
      ...(state !== 'ok' && reason !== undefined && { error: reason }),
      ...(corrupt && { damaged: true })
    }),
    /** Closes the database after accepted writes have finished. Resolves to whether the database was usable until then. */
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
