import { changedWords, type Piece } from './changed-words.ts'

export interface DiffLine {
  /** noLineEnd: the line before ends the file without a line end. */
  kind: 'add' | 'remove' | 'same' | 'gap' | 'noLineEnd'
  text: string
  /** Number of the line in the new file; of a removed line, in the old one. */
  line?: number
  /** The text with the words marked that the line in its place does not have. */
  pieces?: Piece[]
}

export interface ParsedDiff {
  lines: DiffLine[]
  /** What the service says in place of a diff, or of the rest of it. */
  note?: string
  isNew: boolean
  added: number
  removed: number
}

/** Characters of a line in which words are compared. */
const LONGEST_COMPARED = 1_000

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Reads a unified diff of one file. What stands before the first hunk is left out. */
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

/** Compares each removed line with the added one in its place, where as many were added as removed. */
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
