/**
 * Finds a text in a file that contains other characters with the same look: combining accents (NFD), no-break spaces, curly quotes, long
 * dashes, full-width signs or invisible characters. Models write the plain characters.
 */

/** Maps characters that NFKC does not unify to the plain characters that people and models write instead. */
const PLAIN: Record<string, string> = {
  ...entries('\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9', "'"),
  ...entries('\u201c\u201d\u201e\u201f\u2033', '"'),
  ...entries('\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043', '-'),
  ...entries('\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000', ' '),
  // Invisible characters: zero-width spaces and joiners, the soft hyphen, direction marks, and the byte order mark within a text.
  ...entries('\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff', '')
}

const NAMES: Record<string, string> = {
  '\u00a0': 'no-break blank',
  '\u00ad': 'soft hyphen',
  '\u200b': 'zero-width blank',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u2060': 'word joiner',
  '\ufeff': 'byte order mark',
  '\u3000': 'full-width blank',
  '\u202f': 'narrow no-break blank',
  '\t': 'tab',
  '\r': 'CR'
}

function entries (characters: string, plain: string): Record<string, string> {
  return Object.fromEntries([...characters].map((character) => [character, plain]))
}

/**
 * Matches a run of ASCII characters without a combining mark behind it, a syllable of single Hangul letters, or a character with its
 * combining marks.
 */
const UNIT = /[\0-\x7f]+(?!\p{M})|[\u1100-\u115f]+[\u1160-\u11a7]*[\u11a8-\u11ff]*|\P{M}\p{M}*|\p{M}+/gsu
/** The most UTF-16 code units of a text that is compared. A longer text would block the service. */
const MOST_COMPARED = 4 * 1024 * 1024

/**
 * A text in plain characters. `starts` and `ends` have, for each plain character, the range in the original of the unit that it comes from.
 */
interface Plain {
  text: string
  starts: number[]
  ends: number[]
}

function plainOf (original: string): Plain {
  const plain: Plain = { text: '', starts: [], ends: [] }
  const pieces: string[] = []
  const add = (text: string, start: number, end: number) => {
    pieces.push(text)
    for (let at = 0; at < text.length; at++) {
      plain.starts.push(start)
      plain.ends.push(end)
    }
  }
  for (const { 0: unit, index } of original.matchAll(UNIT)) {
    if (unit.charCodeAt(0) < 0x80 && !/[^\0-\x7f]/.test(unit)) {
      pieces.push(unit)
      for (let at = 0; at < unit.length; at++) {
        plain.starts.push(index + at)
        plain.ends.push(index + at + 1)
      }
    } else add(PLAIN[unit] ?? [...unit.normalize('NFKC')].map((each) => PLAIN[each] ?? each).join(''), index, index + unit.length)
  }
  plain.text = pieces.join('')
  return plain
}

/** A replacement for the characters from `start` up to `end` (exclusive). */
export interface LookAlike {
  start: number
  end: number
  newText: string
}

/**
 * Returns the places in a text that look like `wanted`, each with its replacement. Characters that `wanted` and `newText` share at their
 * beginning and end stay as they are in the file. Returns [] if both texts are ASCII, or if the text is too long to compare.
 */
export function findLookAlikes (text: string, wanted: string, newText: string): LookAlike[] {
  if (text.length > MOST_COMPARED || !/[^\0-\x7f]/.test(text + wanted)) return []
  const file = plainOf(text)
  const asked = plainOf(wanted)
  if (asked.text.trim() === '') return []
  const found: LookAlike[] = []
  for (let at = file.text.indexOf(asked.text); at !== -1; at = file.text.indexOf(asked.text, at + asked.text.length)) {
    const to = at + asked.text.length
    const isWhole = file.starts[at] !== file.starts[at - 1] && file.starts[to - 1] !== file.starts[to]
    if (isWhole) found.push(changeAt(file, asked, { wanted, newText, at }))
  }
  return found
}

/**
 * Narrows the replacement of a place to the part where `wanted` and `newText` differ. The part begins and ends between whole characters of
 * both the file and `wanted`.
 */
function changeAt (file: Plain, asked: Plain, { wanted, newText, at }: { wanted: string, newText: string, at: number }): LookAlike {
  const most = Math.min(wanted.length, newText.length)
  let prefix = 0
  while (prefix < most && wanted[prefix] === newText[prefix]) prefix++
  let suffix = 0
  while (suffix < most - prefix && wanted.at(-1 - suffix) === newText.at(-1 - suffix)) suffix++
  const count = asked.text.length
  // `head` is the number of plain characters in the common beginning, reduced until the position is between two units on both sides.
  let head = asked.ends.findIndex((end) => end > prefix)
  if (head === -1) head = count
  while (head > 0 && (isWithin(asked, head) || isWithin(file, at + head))) head--
  let tail = asked.starts.findIndex((start) => start >= wanted.length - suffix)
  tail = Math.max(head, tail === -1 ? count : tail)
  while (tail < count && (isWithin(asked, tail) || isWithin(file, at + tail))) tail++
  const from = head === 0 ? 0 : asked.ends[head - 1]
  const left = tail === count ? 0 : wanted.length - asked.starts[tail]
  return {
    start: head === 0 ? file.starts[at] : file.ends[at + head - 1],
    end: tail === count ? file.ends[at + count - 1] : file.starts[at + tail],
    newText: newText.slice(from, newText.length - left)
  }
}

/** True if a position in the plain text is inside a unit of the original: the characters before and behind it come from the same one. */
const isWithin = ({ starts }: Plain, at: number) => at > 0 && at < starts.length && starts[at] === starts[at - 1]

/**
 * Returns a clause about the first difference between two lines, which names both characters; undefined if both are printable ASCII,
 * because that difference is visible.
 */
export function nameDifference (found: string, wanted: string): string | undefined {
  const [inFile, inWanted] = [[...found], [...wanted]]
  const at = inFile.findIndex((character, place) => character !== inWanted[place])
  const place = at === -1 ? inFile.length : at
  const pair = [inFile[place], inWanted[place]]
  if (!pair.some((character) => character !== undefined && /[^\x20-\x7e]/.test(character))) return undefined
  const [inText, inEdit] = pair.map((character) => character === undefined ? 'nothing' : nameOf(character))
  return `at character ${place + 1} the file has ${inText}, oldText has ${inEdit}`
}

function nameOf (character: string): string {
  const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return `${code} (${NAMES[character] ?? (/^[\p{C}\p{Z}]$/u.test(character) ? 'invisible' : character)})`
}
