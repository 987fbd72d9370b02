import { randomBytes } from 'node:crypto'

/** The number of bytes that are drawn at once. A call of the system's generator takes longer than most uses of the bytes. */
const DRAWN = 4_096

let drawn = Buffer.alloc(0)

/** Returns `length` random bytes, at most DRAWN. No byte is returned twice. */
export function randomOnce (length: number): Buffer {
  if (drawn.length < length) drawn = randomBytes(DRAWN)
  const taken = drawn.subarray(0, length)
  drawn = drawn.subarray(length)
  return taken
}
