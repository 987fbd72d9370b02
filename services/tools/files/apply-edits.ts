import { countWhile } from '../../lib/count-while.ts'
import { ToolFailed } from '../tool-errors.ts'
import { lineEndsOf } from './text-encoding.ts'
import { NUMBER_MARK, numbered } from './line-range.ts'
import { findLookAlikes, type LookAlike, nameDifference } from './look-alike.ts'

interface Edit {
  oldText: string
  newText: string
  all?: boolean
}

/** The most line numbers in the error about a text that occurs more than once. */
const LINES_NAMED = 10

/**
 * Applies edits to a text. Each oldText is searched for in the original text. A line end in an edit matches both LF and CRLF, and a new
 * line end is of the kind used at that place. Throws ToolFailed if an edit cannot be applied.
 */
export function applyEdits (text: string, edits: Edit[]): { text: string, replacements: number } {
  const index = createLineEndIndex(text)
  const changes = edits.flatMap((edit, at) => {
    const named = edits.length === 1 ? 'oldText' : `The oldText of edit ${at + 1}`
    return findChanges(index, edit, named).map((change) => ({ ...change, edit: at }))
  }).sort((a, b) => a.start - b.start)
  const overlap = changes.findIndex(({ start }, at) => at > 0 && start < changes[at - 1].end)
  if (overlap !== -1) {
    const [first, second] = [changes[overlap - 1].edit, changes[overlap].edit].sort((a, b) => a - b)
    throw new ToolFailed(
      `The edits ${first + 1} and ${second + 1} overlap at line ${lineAt(text, changes[overlap].start)}. Nothing was changed: make them ` +
      'one edit.'
    )
  }
  let result = ''
  let from = 0
  for (const { start, end, newText } of changes) {
    result += text.slice(from, start) + newText
    from = end
  }
  result += text.slice(from)
  if (result === text) throw new ToolFailed('The edits change nothing: each newText equals its oldText.')
  return { text: result, replacements: changes.length }
}

type LineEndIndex = ReturnType<typeof createLineEndIndex>

/** Returns the text with LF line ends, and a function that converts a position in it to a position in the original. */
function createLineEndIndex (original: string) {
  const lineEnds = lineEndsOf(original)
  if (lineEnds === 'lf') return { original, text: original, lineEnds, toOriginal: (at: number) => at }
  /** The positions in `text` of the line ends that are CRLF in the original. */
  const positions: number[] = []
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2)) positions.push(at - positions.length)
  const before = (at: number) => countWhile(positions, (position) => position < at)
  return { original, text: original.replaceAll('\r\n', '\n'), lineEnds, toOriginal: (at: number) => at + before(at) }
}

function findChanges (index: LineEndIndex, { oldText, newText, all = false }: Edit, named: string): LookAlike[] {
  const { text, original, lineEnds, toOriginal } = index
  const [wanted, wished] = [oldText, newText].map((each) => each.replaceAll('\r\n', '\n'))
  let places: LookAlike[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    places.push({ start: at, end: at + wanted.length, newText: wished })
  }
  if (places.length === 0) places = findLookAlikes(text, wanted, wished)
  if (places.length === 0) throw new ToolFailed(notFoundMessage(text, wanted, named))
  if (places.length > 1 && !all) {
    const lines = places.slice(0, LINES_NAMED).map(({ start }) => lineAt(text, start)).join(', ')
    throw new ToolFailed(
      `${named} occurs ${places.length} times, on the lines ${lines}${places.length > LINES_NAMED ? ', …' : ''}. Nothing was changed: ` +
        'give more of the text around the one place you mean, or set all to true to replace each.'
    )
  }
  return places.map((place) => {
    const [start, end] = [toOriginal(place.start), toOriginal(place.end)]
    const replaced = original.slice(start, end)
    const crlf = replaced.includes('\n') ? lineEndsOf(replaced) === 'crlf' : usesCrlf(original, start, lineEnds)
    return { start, end, newText: crlf ? place.newText.replaceAll('\n', '\r\n') : place.newText }
  })
}

/** True if the line at a position ends with CRLF; at the end of a file, the line before decides. */
function usesCrlf (text: string, at: number, lineEnds: string): boolean {
  if (lineEnds !== 'mixed') return lineEnds === 'crlf'
  const next = text.indexOf('\n', at)
  const newline = next === -1 ? text.lastIndexOf('\n', at) : next
  return text[newline - 1] === '\r'
}

/** Returns the number of the line at a position, from 1. */
function lineAt (text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line++
  return line
}

/**
 * Limits of the search for similar text, which would otherwise block the service: the lines of the file, the lines of oldText, and the
 * characters of a line.
 */
const COMPARED_LINES = 20_000
const COMPARED_BLOCK = 100
const COMPARED_CHARS = 200
/** The lowest similarity, from 0 to 1, at which a line is worth showing. */
const LEAST_LIKENESS = 0.4
/** The most lines shown, and the most characters of each. */
const SHOWN_LINES = 12
const SHOWN_CHARS = 300

/**
 * Returns the error message for an oldText that is not in a file: what is wrong with oldText, if that can be determined, and the most
 * similar text.
 */
function notFoundMessage (text: string, wanted: string, named: string): string {
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
  const difference = differs === -1 ? undefined : nameDifference(found[differs] ?? '', block[differs])
  const onlyBlanks = block.every((line, row) => withoutBlanks(line) === withoutBlanks(found[row] ?? ''))
  const why = onlyBlanks
    ? 'These lines differ from it only in whitespace'
    : differs === -1
      ? 'These lines are like it'
      : `The nearest text is this; its line ${at + differs + 1} is ${quote(found[differs] ?? '')}, oldText has ${quote(block[differs])}` +
        (difference === undefined ? '' : `: ${difference}`)
  const shown = found.slice(0, SHOWN_LINES).map((line) => line.slice(0, SHOWN_CHARS)).join('\n')
  const more = found.length > SHOWN_LINES ? `\n(and ${found.length - SHOWN_LINES} more lines)` : ''
  return `${nothing} ${why}:\n${numbered(shown, at + 1)}${more}`
}

const quote = (line: string) => JSON.stringify(line.slice(0, SHOWN_CHARS))
const withoutBlanks = (line: string) => line.replace(/\s+/g, '')

/** Returns the first row of the block of lines that is most similar to `block`; undefined if none is similar enough. */
function likestBlock (lines: string[], block: string[]): number | undefined {
  const trimmed = lines.slice(0, COMPARED_LINES).map(withoutBlanks)
  const wanted = block.slice(0, COMPARED_BLOCK).map(withoutBlanks)
  // The longest line is the most distinctive: blocks are compared only where a line is similar to it.
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

/** Returns the pairs of neighbouring characters in a line, with the number of times each occurs. */
function pairsOf (line: string): Map<string, number> {
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < Math.min(line.length, COMPARED_CHARS); at++) {
    const pair = line.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

/** Returns the Dice coefficient, from 0 to 1, of a line and the line whose character pairs are given. */
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
