import { defineError } from '../lib/service-error.ts'

const MIB = 1024 * 1024
/** Maximum bytes of all JSON bodies that are received but not yet handled, over all connections. */
const BUDGET = 64 * MIB

export const TooManyBodies = defineError(
  'ERR_TOO_MANY_BODIES',
  'The service is already receiving request bodies of %d MiB in total; send this one again in a second.'
)

/** The part of the budget that one body uses. */
export interface BodyShare {
  /** Reserves bytes. Throws TooManyBodies (503) when all bodies together would exceed the budget. */
  reserve(bytes: number): void
  /** Returns all reserved bytes. Can be called again. */
  release(): void
}

/** Creates a budget that bounds the memory of all request bodies together, over all connections. */
export function createBodyBudget (limit = BUDGET) {
  let used = 0

  return {
    share (): BodyShare {
      let reserved = 0
      return {
        reserve (bytes) {
          if (used + bytes > limit) throw new TooManyBodies(limit / MIB)
          used += bytes
          reserved += bytes
        },
        release () {
          used -= reserved
          reserved = 0
        }
      }
    }
  }
}
