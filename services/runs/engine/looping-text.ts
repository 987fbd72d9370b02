/** The number of characters at the end of a text that are examined, and the length of the longest piece whose repetition is recognised. */
const TAIL = 4_000
const LONGEST_PIECE = 250
/**
 * The number of characters at the end that are searched for first. Unless they occur once more before the end, the text does not repeat
 * itself.
 */
const END = 32
/** The number of characters between two examinations. */
const STEP = 1_000

/**
 * Returns a function that takes an answer in pieces and returns whether the answer repeats itself at the end: whether the last 4,000
 * characters are repetitions of one piece of at most 250 characters. Small models write like this until their context window is full.
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

/**
 * Returns the length of the shortest piece whose repetition makes the text (Knuth, Morris, Pratt). The last repetition can be incomplete.
 */
function periodOf (text: string): number {
  const borders = new Uint16Array(text.length)
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1]
    if (text[at] === text[border]) border++
    borders[at] = border
  }
  return text.length - borders[text.length - 1]
}
