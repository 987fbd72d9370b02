import { defineError } from '../lib/service-error.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { IDEMPOTENCY, type Op, type Store } from '../store/index.ts'

const KeyReused = defineError(
  'ERR_IDEMPOTENCY_KEY_REUSED',
  'This Idempotency-Key was used for another request; use a new key.'
)

/** How long a key is remembered; milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000
/** The most keys that are stored. When they are reached, the oldest tenth is removed. */
const MOST_KEYS = 10_000

interface StoredAnswer {
  request: string
  answer: unknown
  at: number
}

export type Idempotency = ReturnType<typeof createIdempotency>

/**
 * Creates the service that makes repeated requests with the same `Idempotency-Key` take effect only once. The
 * answer is stored in the same transaction as the effect, so that after a crash either both exist or neither. A key
 * is remembered for 24 hours. Compare https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export function createIdempotency ({ store, clock, mostKeys = MOST_KEYS }: { store: Store, clock: Clock, mostKeys?: number }) {
  const locked = createKeyedLock()
  /** The number of stored keys. It can be too high, because keys that were removed elsewhere still count. */
  let total = 0
  let counted: Promise<void> | undefined
  let forgetting: Promise<void> | undefined

  async function countKeys (): Promise<void> {
    for await (const key of store.keys(IDEMPOTENCY)) if (key !== '') total++
  }

  async function forgetOldest (): Promise<void> {
    const keys: Array<{ key: string, at: number }> = []
    for await (const [key, { at }] of store.list<StoredAnswer>(IDEMPOTENCY, { damaged () {} })) keys.push({ key, at })
    const oldest = keys.length < mostKeys ? [] : keys.sort((a, b) => a.at - b.at).slice(0, Math.ceil(mostKeys / 10))
    await store.transact(oldest.map(({ key }): Op => ({ type: 'del', key })))
    total = keys.length - oldest.length
  }

  /** Counts one more key, after removing the oldest keys if the limit is reached. */
  async function makeRoom (): Promise<void> {
    await (counted ??= countKeys())
    if (total >= mostKeys) {
      await (forgetting ??= forgetOldest().finally(() => {
        forgetting = undefined
      }))
    }
    total++
  }

  return {
    /**
     * Runs `effect` and returns its answer, or returns the stored answer for this key. `effect` must call `remember` with its answer
     * and write the returned operations in the transaction of its effect. Without a key, `effect` always runs. Answers stored before
     * `since` (milliseconds since the Unix epoch) are ignored. Throws KeyReused (422) if the key was used with another request.
     */
    async once<T> (
      { route, key, body, since = 0 }: { route: string, key?: string, body: unknown, since?: number },
      effect: (remember: (answer: T) => Op[]) => Promise<T>
    ): Promise<T> {
      if (key === undefined) return effect(() => [])
      const at = IDEMPOTENCY + store.digest(`${route} ${key}`)
      const request = store.digest(JSON.stringify(body) ?? '')
      return locked(at, async () => {
        const stored = await store.get<StoredAnswer>(at)
        if (stored === undefined || stored.at + KEPT_MS <= clock.now() || stored.at < since) {
          if (stored === undefined) await makeRoom()
          return effect((answer) => [{ type: 'put', key: at, value: { request, answer, at: clock.now() } satisfies StoredAnswer }])
        }
        if (stored.request !== request) throw new KeyReused()
        return stored.answer as T
      })
    }
  }
}
