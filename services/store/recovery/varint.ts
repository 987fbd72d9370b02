/**
 * Reads a LevelDB varint: seven bits per byte, least significant group first. Returns the value and the offset of the next
 * field. Throws a RangeError beyond the end.
 */
export function varintAt (bytes: Buffer, from: number): [value: number, next: number] {
  for (let value = 0, scale = 1, at = from; ; scale *= 128) {
    const byte = bytes.readUInt8(at++)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return [value, at]
  }
}
