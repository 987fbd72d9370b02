import { isUtf8 } from 'node:buffer'
import { mostlyUtf8 } from '../web/fetch/charset.ts'
import { guessEncoding } from './guess-encoding.ts'
import { createLegacyDecoder, encodeLegacy, isLegacy, type LegacyEncoding } from './legacy-encoding.ts'

/**
 * The encodings that are recognised, and kept when a file is written. A UTF-16 file is recognised by its byte order mark. An encoding that
 * is not Unicode is a guess.
 */
export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | LegacyEncoding
type LineEnds = 'lf' | 'crlf' | 'mixed'

/** The encoding and line ends of a text file. Models are told only what differs from UTF-8 and LF. */
export interface TextForm {
  encoding: Encoding
  lineEnds: LineEnds
}

/** A NUL byte within this many bytes marks a binary file, as in git and grep. */
const SNIFFED_BYTES = 8000
/** The share of control characters above which bytes that are not UTF-8 count as binary. */
const MOST_CONTROLS = 0.01

const MARKS: Partial<Record<Encoding, number[]>> = { 'utf-8-bom': [0xef, 0xbb, 0xbf], 'utf-16le': [0xff, 0xfe], 'utf-16be': [0xfe, 0xff] }

export const byteOrderMark = (encoding: Encoding): Buffer => Buffer.from(MARKS[encoding] ?? [])

/** Returns the encoding of a text; undefined if the bytes are not text. If `isBeginning` is true, they can end inside a character. */
export function detectEncoding (bytes: Uint8Array, { isBeginning = false } = {}): Encoding | undefined {
  const head = isBeginning ? withoutCutCharacter(bytes) : bytes
  const begins = (mark: number[]) => mark.every((byte, at) => head[at] === byte)
  // UTF-32 is not supported. Its byte order mark begins like that of UTF-16.
  if (begins([0xff, 0xfe, 0, 0])) return undefined
  for (const encoding of ['utf-8-bom', 'utf-16le', 'utf-16be'] as const) if (begins(MARKS[encoding]!)) return encoding
  const sniffed = head.subarray(0, SNIFFED_BYTES)
  if (sniffed.includes(0)) return undefined
  if (isUtf8(head) || mostlyUtf8(head)) return 'utf-8'
  const controls = sniffed.filter((byte) => byte < 8 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)).length
  return controls > sniffed.length * MOST_CONTROLS ? undefined : guessEncoding(bytes, { isBeginning })
}

/** Returns the bytes without an incomplete UTF-8 character at the end. */
function withoutCutCharacter (bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]
    if (byte < 0x80) break
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.subarray(0, -back) : bytes
  }
  return bytes
}

/** Returns a function that decodes a text, passed without its byte order mark, piece by piece. It is called without a piece at the end. */
export function createTextDecoder (encoding: Encoding): (piece?: Uint8Array) => string {
  if (isLegacy(encoding)) return createLegacyDecoder(encoding)
  const decoder = new TextDecoder(encoding === 'utf-8-bom' ? 'utf-8' : encoding, { ignoreBOM: true })
  return (piece) => decoder.decode(piece, { stream: piece !== undefined })
}

/** Decodes a whole text, and removes its byte order mark. */
export function decodeText (bytes: Uint8Array, encoding: Encoding): string {
  const decode = createTextDecoder(encoding)
  return decode(bytes.subarray(byteOrderMark(encoding).length)) + decode()
}

/** Encodes a text, and adds the byte order mark of the encoding; undefined if the encoding lacks one of the characters. */
export function encodeText (text: string, encoding: Encoding): Buffer | undefined {
  const mark = byteOrderMark(encoding)
  switch (encoding) {
    case 'utf-8':
    case 'utf-8-bom':
      return Buffer.concat([mark, Buffer.from(text)])
    case 'utf-16le':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le')])
    case 'utf-16be':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le').swap16()])
    default:
      return encodeLegacy(text, encoding)
  }
}

/** Returns the kind of line ends in a text; LF if it has none. */
export function lineEndsOf (text: string): LineEnds {
  let crlf = 0
  let lf = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf++
    else lf++
  }
  return crlf === 0 ? 'lf' : lf === 0 ? 'crlf' : 'mixed'
}

/** Returns the fields for an answer that describe what differs from UTF-8 and LF, and whether the encoding is a guess. */
export const unusualForm = ({ encoding, lineEnds }: TextForm): Partial<TextForm> & { encodingIsGuess?: true } => ({
  ...encoding !== 'utf-8' && { encoding },
  ...isLegacy(encoding) && { encodingIsGuess: true },
  ...lineEnds !== 'lf' && { lineEnds }
})
