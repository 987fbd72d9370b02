/** The greatest length of a name that is made of a text; characters as people count them. */
const LONGEST = 60
/** A shorter beginning says too little. */
const SHORTEST = 12
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
/** What begins a line of Markdown. */
const MARKS = /^\s*(?:[#>*+-]+|\d+[.)])\s+/
/** A time before what is to be done, which lists of tasks show beside the name. */
const TIME = /^(?:every|each|daily|hourly|weekly|monthly|tomorrow|today|tonight)\b[^,;:]{0,60}[,;:]\s+/i
/** The ends of sentences, and those of clauses. Latin marks end something only before a blank: "report.md" has none. */
const SENTENCE = /[.!?…](?=\s|$)|[。！？]/gu
const CLAUSE = /[,;:](?=\s)|\s[–—-](?=\s)|[，；：、]/gu

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })
const words = new Intl.Segmenter('und', { granularity: 'word' })

/** Returns the length that a text has for people: an emoji of several code points is one character. */
function lengthOf (text: string): number {
  const characters = graphemes.segment(text)[Symbol.iterator]()
  let length = 0
  while (length <= LONGEST && characters.next().done !== true) length++
  return length
}

/** Returns the beginnings of a text that end before these marks. */
const beginnings = (text: string, ends: RegExp): string[] => [...text.matchAll(ends)].map(({ index }) => text.slice(0, index).trim())

/** Returns as many words of a text as there is room for, with the sign that some are left out. */
function wordsOf (text: string): string {
  let end = 0
  let length = 1
  for (const { segment, index } of words.segment(text)) {
    length += lengthOf(segment)
    if (length > LONGEST) break
    end = index + segment.length
  }
  if (end === 0) {
    // One word that is longer than a name may be.
    let kept = 0
    for (const { segment, index } of graphemes.segment(text)) {
      if (++kept >= LONGEST) break
      end = index + segment.length
    }
  }
  // A path or an address is one word for people.
  const space = text.lastIndexOf(' ', end)
  if (space > end / 2 && /\S/.test(text[end] ?? ' ')) end = space
  return `${text.slice(0, end).replace(/[\s\p{P}]+$/u, '')}…`
}

/**
 * Returns a short name for what a text is about: its first sentence, or if that is long, its first clauses or words. A name has 60
 * characters at most, and is cut neither within a word nor within a character.
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

/** Returns the name of a task: the one that it was given, else one that is made of its goal. */
export const nameOfTask = ({ name, goal }: { name?: string, goal: string }): string => name ?? shortName(goal)
