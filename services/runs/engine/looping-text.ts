/** The characters at the end of a text that are looked at, and the longest piece of which they may be repetitions. */
const TAIL = 4_000
const LONGEST_PIECE = 250
/** The characters at the end that stand once more before it where a text repeats itself. */
const END = 32
/** Characters between two looks. */
const STEP = 1_000

/**
 * Returns a function that takes an answer as it arrives and returns whether it repeats its own end: its last 4,000 characters are one
 * piece of at most 250 again and again. Small models write so until their window is full.
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

/** Returns the length of the shortest piece of which the text is repetitions, the last one perhaps cut (Knuth, Morris, Pratt). */
function periodOf (text: string): number {
  const borders = new Uint16Array(text.length)
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1]
    if (text[at] === text[border]) border++
    borders[at] = border
  }
  return text.length - borders[text.length - 1]
}
