/** The greatest length of a name that is made of a text; characters as people count them. */
const LONGEST = 60
/** A name shorter than this says too little. */
const SHORTEST = 12
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
/** Characters of Markdown at the beginning of a line. */
const MARKS = /^\s*(?:[#>*+-]+|\d+[.)])\s+/
/** A time at the beginning of a goal. Lists of tasks show it beside the name, so the name leaves it out. */
const TIME = /^(?:every|each|daily|hourly|weekly|monthly|tomorrow|today|tonight)\b[^,;:]{0,60}[,;:]\s+/i
/**
 * The ends of sentences, and the ends of clauses. Latin punctuation ends something only before a blank: the dot of "report.md" does not.
 */
const SENTENCE = /[.!?…](?=\s|$)|[。！？]/gu
const CLAUSE = /[,;:](?=\s)|\s[–—-](?=\s)|[，；：、]/gu

// Made at the first use: each takes some milliseconds of the start.
let graphemes: Intl.Segmenter | undefined
let words: Intl.Segmenter | undefined
const graphemesOf = (text: string) => (graphemes ??= new Intl.Segmenter('und', { granularity: 'grapheme' })).segment(text)
const segmentsOf = (text: string) => (words ??= new Intl.Segmenter('und', { granularity: 'word' })).segment(text)

/** Returns the length of a text as people count it: an emoji of several code points is one character. */
function lengthOf (text: string): number {
  const characters = graphemesOf(text)[Symbol.iterator]()
  let length = 0
  while (length <= LONGEST && characters.next().done !== true) length++
  return length
}

/** Returns the beginnings of a text that end before one of these marks. */
const beginnings = (text: string, ends: RegExp): string[] => [...text.matchAll(ends)].map(({ index }) => text.slice(0, index).trim())

/** Returns as many words of a text as fit, with an ellipsis if some are left out. */
function wordsOf (text: string): string {
  let end = 0
  let length = 1
  for (const { segment, index } of segmentsOf(text)) {
    length += lengthOf(segment)
    if (length > LONGEST) break
    end = index + segment.length
  }
  if (end === 0) {
    // A single word that is longer than a name can be.
    let kept = 0
    for (const { segment, index } of graphemesOf(text)) {
      if (++kept >= LONGEST) break
      end = index + segment.length
    }
  }
  // A path or an address counts as one word.
  const space = text.lastIndexOf(' ', end)
  if (space > end / 2 && /\S/.test(text[end] ?? ' ')) end = space
  return `${text.slice(0, end).replace(/[\s\p{P}]+$/u, '')}…`
}

/**
 * Returns a short name for a text: its first sentence or, if that is too long, its first clauses or words. A name has at most 60
 * characters, and never ends within a word or character.
 */
export function shortName (text: string): string {
  const lines = text.toWellFormed().split(LINE_BREAK).map((line) => line.replace(MARKS, '').replace(/\s+/g, ' ').trim())
  const line = lines.find((each) => each !== '') ?? ''
  const timeless = line.replace(TIME, '')
  const work = timeless.length < SHORTEST ? line : timeless
  const sentence = beginnings(work, SENTENCE).find((each) => lengthOf(each) >= SHORTEST) ?? work
  if (lengthOf(sentence) <= LONGEST) return sentence.replace(/[:,;]$/, '')
  const clause = beginnings(sentence, CLAUSE).findLast((each) => lengthOf(each) >= SHORTEST && lengthOf(each) <= LONGEST)
  return clause ?? wordsOf(sentence)
}

/** Returns the name of a task: its own, or one that is made of its goal. */
export const nameOfTask = ({ name, goal }: { name?: string, goal: string }): string => name ?? shortName(goal)
