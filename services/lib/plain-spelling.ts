/** Invisible characters that programs ignore in an address: soft hyphens, joiners, direction marks, tags. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu
/** Numeric character references of HTML, and escapes of strings in programs. */
const NUMBERED = /&#(?:x([\da-f]{1,6})|(\d{1,7}));?|\\u\{?([\da-f]{4,6})\}?|\\x([\da-f]{2})/gi
const NAMED: ReadonlyArray<readonly [RegExp, string]> = [
  [/&amp;/gi, '&'], [/&colon;/gi, ':'], [/&sol;/gi, '/'], [/&bsol;/gi, '\\'], [/&period;/gi, '.'], [/&commat;/gi, '@']
]
const HIGHEST = 0x10ffff

/**
 * Returns a text with the characters that programs read in it: full-width characters and character references become ordinary characters,
 * and invisible characters are removed.
 */
export function spellPlainly (text: string): string {
  let plain = text
  if (/[^ -~\s]/.test(plain)) plain = plain.normalize('NFKC').replace(UNSEEN, '')
  if (/&#|\\[ux]/i.test(plain)) {
    plain = plain.replace(NUMBERED, (all, hex?: string, decimal?: string, unicode?: string, byte?: string) => {
      const code = decimal === undefined ? parseInt(hex ?? unicode ?? byte!, 16) : Number(decimal)
      return code > 0 && code <= HIGHEST ? String.fromCodePoint(code) : all
    })
  }
  if (plain.includes('&')) for (const [name, character] of NAMED) plain = plain.replace(name, character)
  return plain
}

/** Decodes the percent-encoding of a text, even if it was encoded twice. */
export function decodePercents (text: string): string {
  let decoded = text
  for (let times = 0; times < 3 && /%[\da-f]{2}/i.test(decoded); times++) {
    decoded = decoded.replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
      try {
        return decodeURIComponent(bytes)
      } catch {
        return bytes.replace(/%([2-7][\da-f])/gi, (_all, byte: string) => String.fromCharCode(parseInt(byte, 16)))
      }
    })
  }
  return decoded
}
