import type { ListOptions } from './contract.ts'
import { chunks, endOf, type RawRange } from './database.ts'
import type { Engine } from './engine.ts'
import type { Keys } from './keys.ts'
import { assertKey, FIRST_KEY } from './names.ts'
import { unseal } from './seal.ts'

/** See `Store.list`. */
export async function * list<T> (engine: Engine, keys: Keys, prefix: string, options: ListOptions): AsyncGenerator<[string, T]> {
  const range = rangeOf(prefix, options)
  const source = await engine.read(async (database) => chunks(database, range))
  try {
    for (;;) {
      options.signal?.throwIfAborted()
      const { done, value: chunk } = await engine.read(() => source.next())
      if (done) return
      for (const [key, envelope] of chunk) {
        options.signal?.throwIfAborted()
        yield [key, unseal<T>(keys, key, envelope)]
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
