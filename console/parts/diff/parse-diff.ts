import { say } from '../../lib/say.ts'

export interface DiffLine {
  kind: 'add' | 'remove' | 'same' | 'gap'
  text: string
  /** Number of the line in the new file; of a removed line, in the old one. */
  line?: number
}

export interface ParsedDiff {
  lines: DiffLine[]
  /** What the service says in place of a diff, or of the rest of it. */
  note?: string
  isNew: boolean
  added: number
  removed: number
}

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
    } else if (row.startsWith('\\')) lines.push({ kind: 'gap', text: say('approval.noLineEnd') })
  }
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { lines, note, isNew: diff.startsWith('--- /dev/null'), added: count('add'), removed: count('remove') }
}
