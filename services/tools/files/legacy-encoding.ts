/** The encodings besides Unicode that are recognised, by their names in https://encoding.spec.whatwg.org. */
export const LEGACY_ENCODINGS = [
  ...['gbk', 'big5', 'shift_jis', 'euc-jp', 'euc-kr', 'koi8-r', 'windows-1250', 'windows-1251', 'windows-1252'] as const,
  ...['windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'] as const
]
export type LegacyEncoding = typeof LEGACY_ENCODINGS[number]

export const isLegacy = (encoding: string): encoding is LegacyEncoding => (LEGACY_ENCODINGS as readonly string[]).includes(encoding)

/**
 * The characters that windows-1252 has for the bytes 0x80 to 0x9f; its five unused bytes map to themselves. Some versions of Node.js decode
 * these bytes as latin1: https://github.com/nodejs/node/issues/56542
 */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Returns a function that decodes a text piece by piece. It is called without a piece at the end. */
export function createLegacyDecoder (encoding: LegacyEncoding, { fatal = false } = {}): (piece?: Uint8Array) => string {
  if (encoding === 'windows-1252') {
    return (piece) =>
      Buffer.from(piece ?? []).toString('latin1').replace(/[\u0080-\u009f]/g, (character) => HIGH[character.charCodeAt(0) - 0x80])
  }
  const decoder = new TextDecoder(encoding, { fatal })
  return (piece) => decoder.decode(piece, { stream: piece !== undefined })
}

/**
 * Returns the decoded text; undefined if the bytes are not valid in the encoding. If `isBeginning` is true, they can end inside a
 * character.
 */
export function decodeStrictly (bytes: Uint8Array, encoding: LegacyEncoding, isBeginning: boolean): string | undefined {
  try {
    const decode = createLegacyDecoder(encoding, { fatal: true })
    return decode(bytes) + (isBeginning ? '' : decode())
  } catch {
    return undefined
  }
}

const tables = new Map<LegacyEncoding, Map<string, number[]>>()

/**
 * Returns the bytes of each non-ASCII character of an encoding, found by decoding all possible bytes. This takes some milliseconds, once
 * per encoding.
 */
function tableOf (encoding: LegacyEncoding): Map<string, number[]> {
  const known = tables.get(encoding)
  if (known !== undefined) return known
  const table = new Map<string, number[]>()
  const add = (...bytes: number[]) => {
    const text = decodeStrictly(Uint8Array.from(bytes), encoding, false)
    if (text !== undefined && text > '\u007f' && [...text].length === 1 && !table.has(text)) table.set(text, bytes)
  }
  for (let byte = 0x80; byte <= 0xff; byte++) add(byte)
  if (!/^(?:windows|koi)/.test(encoding)) {
    for (const lead of leadsOf(encoding)) for (let trail = 0x30; trail <= 0xfe; trail++) add(lead, trail)
    const further = encoding === 'euc-jp' ? 0xa1 : 0xff
    for (let lead = further; lead <= 0xfe; lead++) for (let trail = 0xa1; trail <= 0xfe; trail++) add(0x8f, lead, trail)
  }
  tables.set(encoding, table)
  return table
}

/**
 * Returns the possible first bytes of a two-byte character. Bytes that are not used for encoding a character with two representations come
 * last: https://encoding.spec.whatwg.org/#indexes
 */
function leadsOf (encoding: LegacyEncoding): number[] {
  const leads = Array.from({ length: 0xfe - 0x81 + 1 }, (_, at) => 0x81 + at)
  const isLast = (lead: number) => (encoding === 'big5' && lead < 0xa1) || (encoding === 'shift_jis' && (lead === 0xed || lead === 0xee))
  return [...leads.filter((lead) => !isLast(lead)), ...leads.filter(isLast)]
}

/** Returns the encoded text; undefined if the encoding lacks one of its characters. */
export function encodeLegacy (text: string, encoding: LegacyEncoding): Buffer | undefined {
  const table = tableOf(encoding)
  const bytes = Buffer.allocUnsafe(text.length * 3)
  let length = 0
  for (const character of text) {
    if (character <= '\u007f') bytes[length++] = character.charCodeAt(0)
    else {
      const of = table.get(character)
      if (of === undefined) return undefined
      for (const byte of of) bytes[length++] = byte
    }
  }
  return bytes.subarray(0, length)
}
