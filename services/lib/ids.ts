import { v7, validate } from 'uuid'
import { systemClock } from './clock.ts'
import { randomOnce } from './random-once.ts'

/** The counter of a UUIDv7 has 31 bits. */
const MAX_COUNT = 0x7fff_ffff

let msecs = 0
let seq = 0

/** Returns a new UUIDv7. Ids sort by creation, even those of one millisecond. All ids of the service come from this function. */
export function newId (): string {
  const random = randomOnce(16)
  const now = systemClock.now()
  if (now > msecs) {
    msecs = now
    seq = random.readUInt32BE(6) & MAX_COUNT
  } else if (seq++ === MAX_COUNT) {
    msecs++
    seq = 0
  }
  return v7({ msecs, seq, random })
}

/** Whether a text has the form of an id. */
export const isId = (text: string): boolean => validate(text)

/** Returns the creation time of an id in milliseconds since the epoch: the first 48 bits of a UUIDv7 (RFC 9562). */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
