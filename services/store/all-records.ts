import type { ListOptions } from './store-types.ts'
import { chunks, endOf, type RawRange } from './database.ts'
import type { Engine } from './engine.ts'
import { isDamage } from './store-errors.ts'
import { assertKey, FIRST_KEY, describesDatabase } from './record-names.ts'

/** Decrypts a record. Throws RecordDamaged when the envelope cannot be read. */
type Open = <T>(key: string, envelope: Buffer) => T

/** Implements `Store.list`. */
export async function * list<T> (engine: Engine, open: Open, prefix: string, options: ListOptions): AsyncGenerator<[string, T]> {
  const { damaged, signal } = options
  yield * walk<T>(engine, damaged === undefined ? open : openOrReport(open, damaged), rangeOf(prefix, options), signal)
}

/** Implements `Store.keys`. */
export async function * keys (engine: Engine, prefix: string): AsyncGenerator<string> {
  for await (const [key] of walk(engine, (key) => key, rangeOf(prefix, {}))) yield key
}

const openOrReport = (open: Open, damaged: (key: string) => void) => <T>(key: string, envelope: Buffer): T | undefined => {
  try {
    return open<T>(key, envelope)
  } catch (error) {
    if (!isDamage(error)) throw error
    damaged(key)
  }
  return undefined
}

/**
 * Lists every record, including single records, except the records that describe the database itself. Calls `damaged` with the
 * key of each record that cannot be read.
 */
export const allRecords = (
  engine: Engine,
  open: Open,
  signal: AbortSignal,
  damaged: (key: string) => void
): AsyncGenerator<[string, unknown]> => {
  const opened = openOrReport(open, damaged)
  return walk(engine, (key, envelope) => describesDatabase(key) ? undefined : opened(key, envelope), {}, signal)
}

async function * walk<T> (
  engine: Engine,
  open: (key: string, envelope: Buffer) => T | undefined,
  range: RawRange,
  signal?: AbortSignal
): AsyncGenerator<[string, T]> {
  const source = await engine.read(async (database) => chunks(database, range))
  try {
    for (;;) {
      signal?.throwIfAborted()
      const { done, value: chunk } = await engine.read(() => source.next())
      if (done) return
      for (const [key, envelope] of chunk) {
        signal?.throwIfAborted()
        const value = open(key, envelope)
        if (value !== undefined) yield [key, value]
      }
    }
  } finally {
    await source.return(undefined)
  }
}

function rangeOf (prefix: string, { limit, reverse = false, after }: ListOptions): RawRange {
  if (prefix !== '') assertKey(prefix)
  const first = prefix || FIRST_KEY
  const end = endOf(prefix)
  return {
    ...(!reverse && after !== undefined && after >= first ? { gt: after } : { gte: first }),
    lt: reverse && after !== undefined && after < end ? after : end,
    reverse,
    ...(limit !== undefined && { limit })
  }
}
