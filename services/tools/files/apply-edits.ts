import { ToolFailed } from '../tool-errors.ts'
import { notFoundMessage } from './nearest-text.ts'
import { lineEndsOf } from './text-encoding.ts'

export interface Edit {
  oldText: string
  newText: string
  all?: boolean
}

/** A replacement of the characters from `start` to `end` (exclusive). */
interface Change {
  start: number
  end: number
  newText: string
  /** Position of the edit in the list. */
  edit: number
}

/** Lines that are named of a text that occurs more than once. */
const LINES_NAMED = 10

/**
 * Applies edits to a text; each oldText is found in the text as it was given. A line end in an edit stands for any line end, LF or CRLF,
 * and new line ends are those of the place. Throws ToolFailed when an edit cannot be applied.
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

/** A text with LF line ends, and the way from its positions back to those of the original. */
function createLineEndIndex (original: string) {
  const lineEnds = lineEndsOf(original)
  if (lineEnds === 'lf') return { original, text: original, lineEnds, toOriginal: (at: number) => at }
  /** The positions of the line ends in `text` that are CRLF in the original. */
  const positions: number[] = []
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2)) positions.push(at - positions.length)
  /** Returns how many of `positions` are before `at`, by binary search. */
  const before = (at: number) => {
    let [low, high] = [0, positions.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (positions[middle] < at) low = middle + 1
      else high = middle
    }
    return low
  }
  return { original, text: original.replaceAll('\r\n', '\n'), lineEnds, toOriginal: (at: number) => at + before(at) }
}

function findChanges (index: LineEndIndex, { oldText, newText, all = false }: Edit, named: string): Array<Omit<Change, 'edit'>> {
  const { text, original, lineEnds, toOriginal } = index
  const wanted = oldText.replaceAll('\r\n', '\n')
  const places: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
  if (places.length === 0) throw new ToolFailed(notFoundMessage(text, wanted, named))
  if (places.length > 1 && !all) {
    const lines = places.slice(0, LINES_NAMED).map((at) => lineAt(text, at)).join(', ')
    throw new ToolFailed(
      `${named} occurs ${places.length} times, on the lines ${lines}${places.length > LINES_NAMED ? ', …' : ''}. Nothing was changed: ` +
        'give more of the text around the one place you mean, or set all to true to replace each.'
    )
  }
  return places.map((at) => {
    const [start, end] = [toOriginal(at), toOriginal(at + wanted.length)]
    const replaced = original.slice(start, end)
    const crlf = replaced.includes('\n') ? lineEndsOf(replaced) === 'crlf' : usesCrlf(original, start, lineEnds)
    const normal = newText.replaceAll('\r\n', '\n')
    return { start, end, newText: crlf ? normal.replaceAll('\n', '\r\n') : normal }
  })
}

/** Whether the line at a place ends with CRLF; at the end of a mixed file, whether the line before does. */
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
