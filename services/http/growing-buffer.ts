const INITIAL_BYTES = 64 * 1024

/**
 * Collects pieces in one buffer that doubles when it is full. A list of pieces would use a hundred times the memory when a
 * body arrives in chunks of one byte.
 */
export function createGrowingBuffer (expected = INITIAL_BYTES) {
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
