import type { Log } from '../lib/log.ts'
import type { Role } from '../contracts/model-role.ts'
import type { Clock } from '../lib/clock.ts'
import type { Usage } from '../../schemas/usage.ts'
import {
  DAY_USAGE,
  dayUsageKey,
  type Op,
  ownerUsageKey,
  ownerUsagePrefix,
  RAISED_BUDGETS,
  raisedBudgetPrefix,
  type Store,
  unlessDamaged
} from '../store/index.ts'
import type { RaisedBudget } from './raised-budgets.ts'
import { addTally, tallyOf, type Tally } from './usage-sums.ts'

/** The thread or task to which a call belongs. Calls without an owner are counted only in the totals of the day. */
export type UsageOwner = { kind: 'thread' | 'task', id: string }

/** The calls of one day with one model in one role, for threads, for tasks or for neither. */
export interface DayRow extends Tally {
  model: string
  role: Role
  of: UsageOwner['kind'] | 'none'
}

/** The calls of one thread or task: the total of all calls, and the tallies by day. */
interface OwnerUsage {
  id: string
  total?: Tally
  days: Record<string, Tally>
}

interface CountedCall {
  model: string
  role: Role
  usage: Usage
  owner?: UsageOwner
  /** The value of `deletions()` when the work began. The call is not counted for an owner that was deleted since then. */
  since?: number
  /** True if an executing run made the call. The call is then stored with the next write of the run. */
  isOfRun?: boolean
}

/** The most rows of a day. Calls of further models are counted under OTHER_MODELS. */
const MAX_ROWS = 300
const OTHER_MODELS = 'other'
/** The number of days for which usage is stored, in the totals and for each thread and task. */
export const DAYS_KEPT = 400
/** The most records that are held in memory. */
const CACHED = 500
/** The most deleted threads and tasks that are remembered, so that a call that ends after the deletion does not store their id again. */
const MAX_DELETED = 10_000

export type UsageRepository = ReturnType<typeof createUsageRepository>

/**
 * Creates the repository of usage. It stores two kinds of records: the totals of each day by model and role, and
 * the totals of each thread and task by day. A call of a run is written with the next write of that run, any
 * other call at once. The daily totals remain when a thread or task is deleted.
 */
export function createUsageRepository (
  { store, clock, log }: { store: Store, clock: Clock, log: Pick<Log, 'error'> }
) {
  const records = new Map<string, Promise<any>>()
  const dirty = new Map<string, unknown>()
  const deleted = new Map<string, number>()
  let deletions = 0
  let writing: Promise<void> = Promise.resolve()
  /**
   * The number of calls being counted plus the number of writes under way. Until it is 0, no record is dropped
   * from memory, because the copy on disk might be older.
   */
  let busy = 0

  const keyOf = ({ kind, id }: UsageOwner) => ownerUsageKey(kind, kind === 'thread' ? store.digest(id) : id)

  /** Returns the copy of a record in memory, which callers change in place. A damaged record is replaced by an empty one. */
  function open<T> (key: string, initial: () => T): Promise<T> {
    let record = records.get(key)
    if (record === undefined) {
      for (const known of records.keys()) if (records.size >= CACHED && busy === 0 && !dirty.has(known)) records.delete(known)
      record = unlessDamaged(store.get<T>(key)).then((stored) => stored ?? initial())
      record.catch(() => records.delete(key))
      records.set(key, record)
    }
    return record
  }

  const openDay = (day: string) => open<{ rows: DayRow[] }>(dayUsageKey(day), () => ({ rows: [] }))

  /** Adds a call to the records in memory. */
  async function count ({ model, role, usage, owner, since = deletions }: CountedCall): Promise<void> {
    const day = dayOf(clock.now())
    const tally = tallyOf(usage)
    const of = owner?.kind ?? 'none'
    const { rows } = await openDay(day)
    const key = owner && keyOf(owner)
    const isDeleted = () => key !== undefined && since < (deleted.get(key) ?? 0)
    // The record of a deleted owner is not read: the record might still be on disk, and would then stay in memory.
    const record = key === undefined || isDeleted() ? undefined : await open<OwnerUsage>(key, () => ({ id: owner!.id, days: {} }))
    const find = (name: string) => rows.findIndex((row) => row.model === name && row.role === role && row.of === of)
    const name = find(model) === -1 && rows.length >= MAX_ROWS ? OTHER_MODELS : model
    const at = find(name)
    rows[at === -1 ? rows.length : at] = { model: name, role, of, ...addTally(rows[at], tally) }
    dirty.set(dayUsageKey(day), { rows })
    if (key === undefined || record === undefined || isDeleted()) return
    record.total = addTally(record.total, tally)
    record.days[day] = addTally(record.days[day], tally)
    for (const old of Object.keys(record.days).sort().slice(0, -DAYS_KEPT)) delete record.days[old]
    dirty.set(key, record)
  }

  /**
   * Returns the operations that write all changed records. Call `written` with the promise of that write: if it
   * rejects, the next `take` returns the records again.
   */
  function take (): { ops: Op[], written: <T>(write: Promise<T>) => Promise<T> } {
    const batch = [...dirty]
    dirty.clear()
    return {
      ops: batch.map(([key, value]): Op => ({ type: 'put', key, value })),
      written (write) {
        busy++
        const ended = write.then(() => {}, () => {
          for (const [key, value] of batch) if (!dirty.has(key) && !deleted.has(key)) dirty.set(key, value)
        }).finally(() => busy--)
        writing = Promise.all([writing, ended]).then(() => {})
        return write
      }
    }
  }

  /** Writes all changed records. Records that the store refuses are written with the next write. */
  function write (): Promise<void> {
    if (dirty.size === 0) return writing
    const { ops, written } = take()
    written(store.transact(ops)).catch((error) =>
      log.error({ err: error }, 'the usage of model calls could not be stored; trying again with the next call')
    )
    return writing
  }

  return {
    take,

    /**
     * Returns the number of deletions so far, for `since` of a call: a call that began before its owner was deleted
     * is not counted for that owner.
     */
    deletions: () => deletions,

    /**
     * Counts a call. Resolves before the count is durable: when its write has begun or, for a call of a run, when it is counted in memory.
     */
    async add (call: CountedCall): Promise<void> {
      busy++
      try {
        await count(call)
      } finally {
        busy--
      }
      if (!call.isOfRun) void write()
    },

    /** Resolves when everything that was counted so far is durable, or the store has refused it. */
    idle: (): Promise<void> => write(),

    /** Returns the date of today and the rows of today. */
    async today (): Promise<{ day: string, rows: readonly DayRow[] }> {
      const day = dayOf(clock.now())
      return { day, rows: (await openDay(day)).rows }
    },

    /** Reads from the store what persons have allowed on a day on top of the daily budget. */
    async raised (day: string): Promise<RaisedBudget[]> {
      const all: RaisedBudget[] = []
      for await (const [, raised] of store.list<RaisedBudget>(raisedBudgetPrefix(day), { damaged () {} })) all.push(raised)
      return all
    },

    /** Returns the total of all calls of a thread or task; undefined if there are none. */
    async of (owner: UsageOwner): Promise<Tally | undefined> {
      const key = keyOf(owner)
      const { total } = await (records.get(key) as Promise<OwnerUsage> | undefined) ?? await unlessDamaged(store.get<OwnerUsage>(key)) ?? {}
      return total
    },

    /** Yields the rows of each day from `from` to `to`, both included. */
    async * days (from: string, to: string): AsyncGenerator<[day: string, rows: readonly DayRow[]]> {
      await write()
      for await (const [key, { rows }] of store.list<{ rows: DayRow[] }>(DAY_USAGE, { damaged () {} })) {
        const day = key.slice(DAY_USAGE.length)
        if (day >= from && day <= to) yield [day, rows]
      }
    },

    /** Yields the usage of every thread, or of every task. */
    async * owners (kind: UsageOwner['kind']): AsyncGenerator<OwnerUsage> {
      await write()
      for await (const [, usage] of store.list<OwnerUsage>(ownerUsagePrefix(kind), { damaged () {} })) yield usage
    },

    /** Removes the totals of days that are older than DAYS_KEPT, and the raised budgets of days before today. */
    async sweep (): Promise<void> {
      const oldest = dayUsageKey(daysBefore(dayOf(clock.now()), DAYS_KEPT))
      const ops: Op[] = []
      for await (const key of store.keys(DAY_USAGE)) if (key < oldest) ops.push({ type: 'del', key })
      const today = raisedBudgetPrefix(dayOf(clock.now()))
      for await (const key of store.keys(RAISED_BUDGETS)) if (key < today) ops.push({ type: 'del', key })
      await store.transact(ops)
    },

    /** Returns the operation that removes the usage of a deleted thread or task. The daily totals still include its calls. */
    forget (owner: UsageOwner): Op {
      const key = keyOf(owner)
      deleted.delete(key)
      deleted.set(key, ++deletions)
      for (const oldest of deleted.keys()) if (deleted.size > MAX_DELETED) deleted.delete(oldest)
      records.delete(key)
      dirty.delete(key)
      return { type: 'del', key }
    }
  }
}

// Days are written as "2026-01-31" and follow the time zone of the computer, because people read them and set limits for them.

/** Returns the day of a time, which is in milliseconds since the Unix epoch. */
export function dayOf (time: number): string {
  const date = new Date(time)
  return written(date.getFullYear(), date.getMonth() + 1, date.getDate())
}

/** Returns the day that lies `count` days before another one. */
export function daysBefore (day: string, count: number): string {
  const date = new Date(Date.parse(day) - count * 24 * 60 * 60 * 1000)
  return written(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
}

/** Whether the text is a day that exists in the calendar. */
export const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day)) && daysBefore(day, 0) === day

/** Returns the number of days from one day to another. */
export const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / (24 * 60 * 60 * 1000))

const written = (year: number, month: number, day: number) =>
  [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-')
