import { randomBytes } from 'node:crypto'

/** Bytes that are drawn at once: each call of the system's generator takes longer than most of what the bytes are used for. */
const DRAWN = 4_096

let drawn = Buffer.alloc(0)

/** Returns up to DRAWN random bytes that are returned only once. */
export function randomOnce (length: number): Buffer {
  if (drawn.length < length) drawn = randomBytes(DRAWN)
  const taken = drawn.subarray(0, length)
  drawn = drawn.subarray(length)
  return taken
}
