import { NUMBER_MARK, numbered } from './line-range.ts'

/** Bounds of the comparison, which would otherwise block the service: lines of the file and of oldText, and characters of a line. */
const COMPARED_LINES = 20_000
const COMPARED_BLOCK = 100
const COMPARED_CHARS = 200
/** The least likeness, 0 to 1, of a line that is worth showing. */
const LEAST_LIKENESS = 0.4
/** Lines shown, and characters of each. */
const SHOWN_LINES = 12
const SHOWN_CHARS = 300

/** Returns the sentence for a text that is not in a file: what is wrong with it, as far as that can be told, and the nearest text. */
export function notFoundMessage (text: string, wanted: string, named: string): string {
  const nothing = `${named} is not in the file. Nothing was changed.`
  const unnumbered = wanted.replace(new RegExp(`^\\s*\\d+${NUMBER_MARK}`, 'gm'), '')
  if (unnumbered !== wanted && text.includes(unnumbered)) {
    return `${nothing} It holds the line numbers that readFile shows: leave out each number and "${NUMBER_MARK}".`
  }
  const lines = text.split('\n')
  const block = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const at = likestBlock(lines, block)
  if (at === undefined) return `${nothing} Nothing in the file is like it: read the file again.`
  const found = lines.slice(at, at + block.length)
  const differs = block.findIndex((line, row) => line !== found[row])
  const onlyBlanks = block.every((line, row) => withoutBlanks(line) === withoutBlanks(found[row] ?? ''))
  const why = onlyBlanks
    ? 'These lines differ from it only in blanks'
    : differs === -1
      ? 'These lines are like it'
      : `The nearest text is this; its line ${at + differs + 1} is ${quote(found[differs] ?? '')}, oldText has ${quote(block[differs])}`
  const shown = found.slice(0, SHOWN_LINES).map((line) => line.slice(0, SHOWN_CHARS)).join('\n')
  const more = found.length > SHOWN_LINES ? `\n(and ${found.length - SHOWN_LINES} more lines)` : ''
  return `${nothing} ${why}:\n${numbered(shown, at + 1)}${more}`
}

const quote = (line: string) => JSON.stringify(line.slice(0, SHOWN_CHARS))
const withoutBlanks = (line: string) => line.replace(/\s+/g, '')

/** Returns where the lines begin that are most like a block; undefined when none are. */
function likestBlock (lines: string[], block: string[]): number | undefined {
  const trimmed = lines.slice(0, COMPARED_LINES).map(withoutBlanks)
  const wanted = block.slice(0, COMPARED_BLOCK).map(withoutBlanks)
  // The line that tells most is the longest: blocks are compared where a line is like it.
  const anchor = wanted.reduce((longest, line, row) => line.length > wanted[longest].length ? row : longest, 0)
  const anchorPairs = pairsOf(wanted[anchor])
  let best: { at: number, score: number } | undefined
  for (const [row, line] of trimmed.entries()) {
    const likeness = line === wanted[anchor] ? 1 : likenessOf(anchorPairs, line)
    if (likeness < LEAST_LIKENESS) continue
    const at = Math.max(0, row - anchor)
    const same = wanted.filter((each, offset) => each !== '' && trimmed[at + offset] === each).length
    const score = likeness + same
    if (best === undefined || score > best.score) best = { at, score }
  }
  return best?.at
}

/** The pairs of neighbouring characters of a line, with their counts. */
function pairsOf (line: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < Math.min(line.length, COMPARED_CHARS); at++) {
    const pair = line.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

/** Dice's coefficient of two lines over their pairs of characters, 0 to 1. */
function likenessOf (pairs: Map<string, number>, line: string): number {
  const length = Math.min(line.length, COMPARED_CHARS)
  const wantedLength = [...pairs.values()].reduce((sum, count) => sum + count, 1)
  if (2 * Math.min(length, wantedLength) < LEAST_LIKENESS * (length + wantedLength)) return 0
  const all = wantedLength - 1 + Math.max(0, length - 1)
  if (all === 0) return 0
  const left = new Map(pairs)
  let common = 0
  for (let at = 0; at + 1 < length; at++) {
    const pair = line.slice(at, at + 2)
    const count = left.get(pair) ?? 0
    if (count > 0) {
      common++
      left.set(pair, count - 1)
    }
  }
  return 2 * common / all
}
