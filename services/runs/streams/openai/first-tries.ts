import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'
import { newId } from '../../../lib/ids.ts'

/** How long a run continues without a reader if its client counts its retries, milliseconds. */
export const LINGER_MS = 10_000
/**
 * How long a try is remembered for a retry after its client has left or got everything, milliseconds. Clients wait up to a minute between
 * tries.
 */
const KEPT_MS = 2 * 60_000
/** For how long after its start the service assumes that an unknown retry repeats a request to the previous process, milliseconds. */
const AFTER_START_MS = 60_000
/**
 * The greatest age of a request to the previous process that a retry can repeat, milliseconds: the usual time limit of clients, plus a
 * wait.
 */
const OLDEST_MS = 11 * 60_000
const MOST_TRIES = 1_000

/** A request that a client might repeat, with the idempotency key of its run. */
export interface Try {
  key: string
  since?: number
  /**
   * `read`: the client is reading the answer. `left`: the client left before the end. `answered`: the client got everything. `dropped`: the
   * try failed, and a retry starts another run.
   */
  state: 'read' | 'left' | 'answered' | 'dropped'
  /** When the client left or had got everything, by `clock.monotonic()`, milliseconds. */
  at: number
}

export type FirstTries = ReturnType<typeof createFirstTries>

/**
 * Finds the first try of a request that a client repeats. The official clients of OpenAI, and clients based on them, count their tries
 * (`x-stainless-retry-count`) and repeat a request whose answer they did not get. Some programs repeat requests themselves, with the count
 * 0.
 */
export function createFirstTries (clock: Pick<Clock, 'now' | 'monotonic'>) {
  const tries = new Map<string, Try[]>()
  const startedAt = clock.monotonic()

  /** Removes the tries that cannot be repeated any more. */
  function tidy (): void {
    const now = clock.monotonic()
    for (const [digest, list] of tries) {
      const kept = list.filter(({ state, at }) => state === 'read' || at + KEPT_MS > now)
      if (kept.length > 0) tries.set(digest, kept)
      else tries.delete(digest)
    }
    for (const digest of tries.keys()) {
      if (tries.size <= MOST_TRIES) return
      tries.delete(digest)
    }
  }

  /**
   * Returns the try that a request repeats: preferably one whose client has left, then one that is being read, then the newest. Returns
   * undefined for a new request.
   */
  function findFirst (all: readonly Try[], retry: number): Try | undefined {
    const list = all.filter(({ state }) => state !== 'dropped')
    const left = list.find(({ state, at }) => state === 'left' && (retry > 0 || at + LINGER_MS > clock.monotonic()))
    return left ?? (retry > 0 ? list.find(({ state }) => state === 'read') ?? list.at(-1) : undefined)
  }

  return {
    /** Returns the try that a request repeats, or a new try. `retry` is the client's count of earlier tries. */
    begin (body: object, retry: number): Try {
      tidy()
      const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url')
      const list = tries.get(digest) ?? []
      const first = findFirst(list, retry)
      if (first !== undefined) return Object.assign(first, { state: 'read', since: undefined })
      const isOfEarlierProcess = retry > 0 && clock.monotonic() - startedAt < AFTER_START_MS
      const begun: Try = {
        key: `/v1 ${digest} ${list.length === 0 ? '' : newId()}`,
        since: isOfEarlierProcess ? clock.now() - OLDEST_MS : Infinity,
        state: 'read',
        at: 0
      }
      tries.set(digest, [...list, begun])
      return begun
    },

    end (which: Try | undefined, state: 'left' | 'answered' | 'dropped'): void {
      if (which !== undefined) Object.assign(which, { state, at: clock.monotonic() })
    }
  }
}
