import { createError } from '@fastify/error'

const MIB = 1024 * 1024
/** Bytes of JSON bodies that are received and not yet handled, over all connections. */
const MOST = 64 * MIB

export const TooManyBodies = createError(
  'ERR_TOO_MANY_BODIES',
  'Request bodies of %d MiB in all are already under way; send this one again in a second.',
  503
)

/** The bytes that one body takes of the budget. */
export interface BodyShare {
  /** Throws TooManyBodies (503) when all bodies together would be more than the budget. */
  take(bytes: number): void
  /** Gives everything back. May be called again. */
  release(): void
}

/** Bounds the memory that request bodies take together, however many connections they come from. */
export function createBodyBudget (most = MOST) {
  let taken = 0

  return {
    share (): BodyShare {
      let own = 0
      return {
        take (bytes) {
          if (taken + bytes > most) throw new TooManyBodies(most / MIB)
          taken += bytes
          own += bytes
        },
        release () {
          taken -= own
          own = 0
        }
      }
    }
  }
}
