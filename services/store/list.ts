import type { ListOptions } from './contract.ts'
import { chunks, endOf, type RawRange } from './database.ts'
import type { Engine } from './engine.ts'
import { assertKey, FIRST_KEY } from './names.ts'

/** Deciphers a record. */
type Open = <T>(key: string, envelope: Buffer) => T

/** See `Store.list`. */
export async function * list<T> (engine: Engine, open: Open, prefix: string, options: ListOptions): AsyncGenerator<[string, T]> {
  const range = rangeOf(prefix, options)
  const source = await engine.read(async (database) => chunks(database, range))
  try {
    for (;;) {
      options.signal?.throwIfAborted()
      const { done, value: chunk } = await engine.read(() => source.next())
      if (done) return
      for (const [key, envelope] of chunk) {
        options.signal?.throwIfAborted()
        yield [key, open<T>(key, envelope)]
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
