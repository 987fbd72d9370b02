const FIRST = 64 * 1024

/**
 * Collects pieces in one buffer that doubles when it is full: a list of pieces would take a hundred times their bytes
 * when a body is sent in chunks of one byte.
 */
export function createGrowingBuffer (expected = FIRST) {
  let buffer = Buffer.allocUnsafeSlow(expected)
  let used = 0

  return {
    get length (): number {
      return used
    },

    push (piece: Uint8Array) {
      if (used + piece.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + piece.length))
        buffer.copy(larger, 0, 0, used)
        buffer = larger
      }
      buffer.set(piece, used)
      used += piece.length
    },

    bytes: (): Buffer => buffer.subarray(0, used)
  }
}
