/** The position of words in a text, as offsets. */
interface Place {
  from: number
  to: number
}

const END_MARKS = /[\s.,;:!\u2026\u3002\uFF01\u0964\u061F?\uFF1F]+$/u
/** Quotation marks that people and models put around quoted words. */
const AROUND = /^["'`\u00AB\u2039\u201C\u201D\u201E\u2018\u300C\u300E\s]+|["'`\u00BB\u203A\u201C\u201D\u2019\u300D\u300F\s]+$/gu

/** A text in which characters that look alike are equal, with the position of each character in the original. */
interface Folded {
  folded: string
  places: number[]
}

const APOSTROPHES = /[\u2018\u2019\u201A\u201B\u02BC\u2032\uFF07`\u00B4]/u
const MARKS = /[\u201C\u201D\u201E\u201F\u00AB\u00BB\u2033\uFF02]/u
const DASHES = /[\u2010-\u2015\u2212\uFE58\uFF0D]/u

function foldCharacter (character: string): string {
  // True for most characters of most texts.
  if (/^[a-z0-9.,]$/.test(character)) return character
  if (APOSTROPHES.test(character)) return "'"
  if (MARKS.test(character)) return '"'
  if (DASHES.test(character)) return '-'
  if (/\s/u.test(character)) return ' '
  return character.normalize('NFKC').toLowerCase()
}

/** Folds a text in composed form: case, the width of characters, blanks in a row, quotation marks and dashes. */
function fold (text: string): Folded {
  let folded = ''
  // Reading the end of the growing text would copy the text each time.
  let last = ''
  const places: number[] = []
  let at = 0
  for (const character of text) {
    const each = foldCharacter(character)
    if (each !== ' ' || last !== ' ') {
      folded += each
      last = each
      for (let n = 0; n < each.length; n++) places.push(at)
    }
    at += character.length
  }
  places.push(at)
  return { folded, places }
}

/**
 * Returns a function that finds words in a text, as offsets in the composed form (NFC) of the text. The text is read when the function is
 * first called. Case, blanks, quotation marks around the words and punctuation at their end do not count. In scripts that put blanks
 * between words, a match must begin and end at the bounds of words.
 */
export function wordFinder (text: string): (words: string) => Place[] {
  let read: Folded | undefined
  return (words) => {
    if (words.trim() === '') return []
    const { folded, places } = read ??= fold(composed(text))
    const span = fold(composed(words)).folded.trim()
    const bare = span.replace(AROUND, '')
    for (const wanted of new Set([span, bare, bare.replace(END_MARKS, '')])) {
      if (!/[\p{L}\p{N}]/u.test(wanted) || wanted.length < 2) continue
      const found: Place[] = []
      for (let from = folded.indexOf(wanted); from >= 0; from = folded.indexOf(wanted, from + 1)) {
        const to = from + wanted.length
        if (isWhole(folded, from, wanted)) found.push({ from: places[from], to: places[to] })
      }
      if (found.length > 0) return found
    }
    return []
  }
}

/** Returns a function that takes words and returns them as the text has them; undefined if the text does not contain them. */
export function quoteFinder (text: string): (words: string) => string | undefined {
  const find = wordFinder(text)
  return (words) => {
    const [place] = find(words)
    return place && composed(text).slice(place.from, place.to).trim()
  }
}

const composed = (text: string) => text.toWellFormed().normalize('NFC')

/** True if the match begins and ends at the bounds of words, in scripts that put blanks between words. */
function isWhole (text: string, from: number, words: string): boolean {
  const cuts = (before: string, after: string) => SPACED.test(before) && SPACED.test(after)
  return !cuts(text[from - 1] ?? '', words[0]) && !cuts(words.at(-1)!, text[from + words.length] ?? '')
}
const SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{N}]/u
