/**
 * Characters that are invisible, or that reorder the text around them: control characters (except tab and line feed), format characters,
 * bidirectional controls, fillers, variation selectors, tags, lone surrogates and Unicode line separators.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u
const PICTURE = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}/u
const JOINERS = new Set(['\u200D', '\uFE0F'])

/** A piece of a text: visible text, or one hidden character by its code point. */
type Piece = { text: string } | { code: string }

/**
 * Splits a text into visible text and hidden characters. Joiners within emoji and carriage returns at line ends are left out, because they
 * hide nothing.
 */
export function visiblePieces (text: string): Piece[] {
  if (!HIDDEN.test(text)) return [{ text }]
  const pieces: Piece[] = []
  const characters = [...text]
  let seen = ''
  for (const [at, character] of characters.entries()) {
    if (isPlain(character, characters[at - 1] ?? '', characters[at + 1] ?? '')) {
      seen += character
      continue
    }
    if (seen !== '') pieces.push({ text: seen })
    seen = ''
    pieces.push({ code: `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}` })
  }
  if (seen !== '') pieces.push({ text: seen })
  return pieces
}

function isPlain (character: string, before: string, after: string): boolean {
  if (!HIDDEN.test(character) || character === '\n' || character === '\t') return true
  if (character === '\r') return after === '\n'
  if (!JOINERS.has(character)) return false
  return PICTURE.test(before) || (before === '\uFE0F' && character === '\u200D')
}

/** Returns the text with hidden characters written as ⟨U+202E⟩, for titles and labels that are plain strings. */
export const visibleText = (text: string): string =>
  visiblePieces(text).map((piece) => 'text' in piece ? piece.text : `⟨${piece.code}⟩`).join('')
