import { changedWords, type Piece } from './changed-words.ts'

export interface DiffLine {
  /** `noLineEnd`: the previous line ends the file without a line feed. */
  kind: 'add' | 'remove' | 'same' | 'gap' | 'noLineEnd'
  text: string
  /** The line number in the new file; for a removed line, in the old file. */
  line?: number
  /** The text in pieces, with the words marked that the corresponding line does not have. */
  pieces?: Piece[]
}

export interface ParsedDiff {
  lines: DiffLine[]
  /** The service's note instead of a diff, or of the rest of a diff. */
  note?: string
  isNew: boolean
  added: number
  removed: number
}

/** The longest line in which words are compared, in characters. */
const LONGEST_COMPARED = 1_000

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Parses a unified diff of one file. Text before the first hunk is ignored. */
export function parseDiff (diff: string): ParsedDiff {
  const lines: DiffLine[] = []
  let note: string | undefined
  let old: number | undefined
  let next = 1
  for (const row of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(row)
    if (hunk !== null) {
      if (lines.length > 0) lines.push({ kind: 'gap', text: '⋯' })
      old = Number(hunk[1])
      next = Number(hunk[2])
    } else if (row.startsWith('(')) note = row.replace(/^\(|\)$/g, '')
    else if (old === undefined) continue
    else if (row.startsWith('+')) lines.push({ kind: 'add', text: row.slice(1), line: next++ })
    else if (row.startsWith('-')) lines.push({ kind: 'remove', text: row.slice(1), line: old++ })
    else if (row.startsWith(' ')) {
      lines.push({ kind: 'same', text: row.slice(1), line: next++ })
      old++
    } else if (row.startsWith('\\')) lines.push({ kind: 'noLineEnd', text: '' })
  }
  markWords(lines)
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { lines, note, isNew: diff.startsWith('--- /dev/null'), added: count('add'), removed: count('remove') }
}

/** Compares each removed line with the added line at the same position, if a block has as many added as removed lines. */
function markWords (lines: DiffLine[]): void {
  for (let at = 0; at < lines.length;) {
    let middle = at
    while (lines[middle]?.kind === 'remove') middle++
    let end = middle
    while (lines[end]?.kind === 'add') end++
    const count = middle - at
    if (count > 0 && end - middle === count) {
      for (let n = at; n < middle; n++) {
        const [old, now] = [lines[n], lines[n + count]]
        if (Math.max(old.text.length, now.text.length) > LONGEST_COMPARED) continue
        ;[old.pieces, now.pieces] = changedWords(old.text, now.text) ?? []
      }
    }
    at = Math.max(end, at + 1)
  }
}
