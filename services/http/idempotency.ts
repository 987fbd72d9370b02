import { createError } from '@fastify/error'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Op, Store } from '../store/store-types.ts'

export const KeyReused = createError(
  'ERR_IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key was used for another request; take a new key.',
  409
)

interface Remembered {
  request: string
  answer: unknown
  at: number
}

/** Prefix of the stored answers, for retention. */
export const IDEMPOTENCY_PREFIX = 'idempotency/'

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * Makes a request that is repeated with the same `Idempotency-Key` take effect once. The answer is stored in the
 * same batch as the effect, so that after a crash either both are there or neither is.
 * Compare https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function createIdempotency ({ store, clock }: { store: Store, clock: Clock }) {
  const locked = createKeyedLock()

  return {
    /**
     * The answer of `effect`, or the first one given for this key. `effect` writes the operations that `remember` gives
     * for its answer together with what it does. Without a key it always takes effect.
     * Throws KeyReused (409) when the key came with another request.
     */
    async once<T> (
      { route, key, body }: { route: string, key?: string, body: unknown },
      effect: (remember: (answer: T) => Op[]) => Promise<T>
    ): Promise<T> {
      if (key === undefined) return effect(() => [])
      const at = IDEMPOTENCY_PREFIX + store.digest(`${route} ${key}`)
      const request = store.digest(JSON.stringify(body) ?? '')
      return locked(at, async () => {
        const known = await store.get<Remembered>(at)
        if (known === undefined) {
          return effect((answer) => [{ type: 'put', key: at, value: { request, answer, at: clock.now() } satisfies Remembered }])
        }
        if (known.request !== request) throw new KeyReused()
        return known.answer as T
      })
    }
  }
}
