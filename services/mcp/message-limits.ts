import type { Clock } from '../lib/clock.ts'
import { exceededLimit } from '../lib/json.ts'

const MIB = 1024 * 1024
/** The most bytes in one message: enough for a result of 1 MiB and images of 5 MiB, with JSON escapes. */
export const LONGEST_MESSAGE = 8 * MIB
/** The most JSON values in one message: small values can take a hundred times the memory of their text. */
const MAX_VALUES = 250_000
const MAX_DEPTH = 128
/** The most bytes per minute that a server can write without answering a request. */
const MAX_UNSOLICITED_PER_MINUTE = 64 * MIB
const MINUTE_MS = 60_000

export const TOO_LARGE = `The answer is larger than ${LONGEST_MESSAGE / MIB} MiB.`
export const TOO_COMPLEX = `The answer is nested deeper than ${MAX_DEPTH} levels or holds more than ${MAX_VALUES} values.`

/** True if a JSON text has too many levels or values to be parsed. */
export const isTooComplex = (json: Buffer): boolean => exceededLimit(json, { levels: MAX_DEPTH, values: MAX_VALUES }) !== undefined

/**
 * Returns a function that counts the bytes a server writes without being asked. Above the limit per minute, it calls `exceeded` with the
 * reason.
 */
export function createUnsolicitedBudget (clock: Clock, exceeded: (why: string) => void) {
  let since = clock.monotonic()
  let sum = 0
  return (bytes: number): void => {
    const now = clock.monotonic()
    if (now - since > MINUTE_MS) {
      since = now
      sum = 0
    }
    sum += bytes
    if (sum > MAX_UNSOLICITED_PER_MINUTE) {
      exceeded(`it wrote more than ${MAX_UNSOLICITED_PER_MINUTE / MIB} MiB in a minute without being asked`)
    }
  }
}
