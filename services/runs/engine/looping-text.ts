/** How many characters at the end of a text are examined, and the longest piece whose repetition is recognised. */
const TAIL = 4_000
const LONGEST_PIECE = 250
/** The last characters of the text: only if they occur a second time before, the text may repeat itself. */
const END = 32
/** The number of characters between two examinations. */
const STEP = 1_000

/**
 * Returns a function that takes an answer piece by piece and returns whether its end repeats itself: its last 4,000 characters are
 * repetitions of one piece of at most 250. Small models write like this until their window is full.
 */
export function createLoopingText (): (delta: string) => boolean {
  let tail = ''
  let unseen = 0
  return (delta) => {
    tail += delta
    unseen += delta.length
    if (unseen < STEP || tail.length < TAIL) return false
    unseen = 0
    tail = tail.slice(-TAIL)
    const isRepeated = tail.slice(-LONGEST_PIECE - END, -1).includes(tail.slice(-END))
    return isRepeated && periodOf(tail) <= LONGEST_PIECE
  }
}

/** Returns the length of the shortest piece of which the text is repetitions, the last one perhaps incomplete (Knuth, Morris, Pratt). */
function periodOf (text: string): number {
  const borders = new Uint16Array(text.length)
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1]
    if (text[at] === text[border]) border++
    borders[at] = border
  }
  return text.length - borders[text.length - 1]
}
