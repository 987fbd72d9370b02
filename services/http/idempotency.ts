import { defineError } from '../lib/service-error.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { IDEMPOTENCY, type Op, type Store } from '../store/index.ts'

export const KeyReused = defineError(
  'ERR_IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key was used for another request; use a new key.'
)

interface StoredAnswer {
  request: string
  answer: unknown
  at: number
}

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * Makes repeated requests with the same `Idempotency-Key` take effect once. The answer is stored in the same transaction as
 * the effect, so that after a crash either both exist or neither. Compare
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function createIdempotency ({ store, clock }: { store: Store, clock: Clock }) {
  const locked = createKeyedLock()

  return {
    /**
     * Returns the answer of `effect`, or the answer stored for this key. `effect` must write the operations that `remember`
     * returns for its answer in the transaction of its effect. Without a key, `effect` always runs. Throws KeyReused (409)
     * when the key was used with another request.
     */
    async once<T> (
      { route, key, body }: { route: string, key?: string, body: unknown },
      effect: (remember: (answer: T) => Op[]) => Promise<T>
    ): Promise<T> {
      if (key === undefined) return effect(() => [])
      const at = IDEMPOTENCY + store.digest(`${route} ${key}`)
      const request = store.digest(JSON.stringify(body) ?? '')
      return locked(at, async () => {
        const stored = await store.get<StoredAnswer>(at)
        if (stored === undefined) {
          return effect((answer) => [{ type: 'put', key: at, value: { request, answer, at: clock.now() } satisfies StoredAnswer }])
        }
        if (stored.request !== request) throw new KeyReused()
        return stored.answer as T
      })
    }
  }
}
