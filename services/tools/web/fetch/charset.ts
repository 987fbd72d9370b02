import { guessEncoding } from '../../files/guess-encoding.ts'
import { createLegacyDecoder } from '../../files/legacy-encoding.ts'

/** The bytes of a page that are searched for a declared encoding: https://html.spec.whatwg.org/#prescan */
const DECLARATION_BYTES = 2048

const BYTE_ORDER_MARKS: Array<[string, number[]]> = [['utf-8', [0xef, 0xbb, 0xbf]], ['utf-16le', [0xff, 0xfe]], ['utf-16be', [0xfe, 0xff]]]

/**
 * Decodes a document. Its encoding comes from the byte order mark, else from the header's `charset`, else from the declaration in the
 * document, else it is UTF-8 or, if the bytes are not UTF-8, the most likely other encoding.
 */
export function decode (bytes: Uint8Array, charset?: string): string {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
  const decoder = decoderFor(marked) ?? decoderFor(charset) ?? decoderFor(declaredCharset(bytes))
  if (decoder) return decoder.decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return mostlyUtf8(bytes) ? new TextDecoder().decode(bytes) : decodeLegacy(bytes)
  }
}

/** Returns a decoder for an encoding label (https://encoding.spec.whatwg.org); undefined for an unknown label. */
function decoderFor (label: string | undefined) {
  try {
    return label === undefined ? undefined : new TextDecoder(label)
  } catch {
    return undefined
  }
}

function declaredCharset (bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, DECLARATION_BYTES)).toString('latin1')
  const label = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1]
  // A document whose declaration can be read as single bytes is not UTF-16, whatever it declares.
  return label && /^utf-?16/i.test(label) ? 'utf-8' : label
}

/** True if valid multi-byte characters outnumber broken ones. Truncated documents and stray bytes still count as UTF-8. */
export function mostlyUtf8 (bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes)
  let broken = 0
  let whole = 0
  for (const character of text) {
    if (character === '\uFFFD') broken++
    else if (character > '\u007F') whole++
  }
  return whole > broken
}

function decodeLegacy (bytes: Uint8Array): string {
  const decode = createLegacyDecoder(guessEncoding(bytes, { isBeginning: true }))
  return decode(bytes) + decode()
}
