/** Bytes of a page in which its own declaration is looked for: https://html.spec.whatwg.org/#prescan */
const DECLARATION_BYTES = 2048

const BYTE_ORDER_MARKS: Array<[string, number[]]> = [['utf-8', [0xef, 0xbb, 0xbf]], ['utf-16le', [0xff, 0xfe]], ['utf-16be', [0xfe, 0xff]]]

/**
 * The text of a document. Its encoding is that of its byte order mark, else of its header, else of its own declaration;
 * without any it is UTF-8, or, when it is none, windows-1252, as browsers have it.
 */
export function decode (bytes: Uint8Array, charset?: string): string {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
  const decoder = known(marked) ?? known(charset) ?? known(declared(bytes))
  if (decoder) return decoder.decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder(mostlyUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
  }
}

/** A decoder for a label of https://encoding.spec.whatwg.org; undefined for one it does not know. */
function known (label: string | undefined) {
  try {
    return label === undefined ? undefined : new TextDecoder(label)
  } catch {
    return undefined
  }
}

function declared (bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, DECLARATION_BYTES)).toString('latin1')
  const label = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(head)?.[1] ??
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1]
  // Who could be read so far is not in UTF-16, whatever it says.
  return label && /^utf-?16/i.test(label) ? 'utf-8' : label
}

/** A document that was cut off, or holds a stray byte, is still UTF-8: it has more whole characters than broken ones. */
function mostlyUtf8 (bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes)
  let broken = 0
  let whole = 0
  for (const character of text) {
    if (character === '\uFFFD') broken++
    else if (character > '\u007F') whole++
  }
  return whole > broken
}
