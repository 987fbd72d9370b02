import { diffArrays } from 'diff'
import type { TextForm } from './text-encoding.ts'

/** Time in which the lines of two texts are compared, milliseconds. */
const COMPARE_MS = 1_000

/**
 * Returns a text of lines that end with LF, each with the end that it has in the old text. A new one has that of the line that it replaces,
 * or of the line before it.
 */
export function withLineEnds (content: string, old: string, lineEnds: TextForm['lineEnds']): string {
  if (lineEnds === 'lf') return content
  if (lineEnds === 'crlf') return content.replaceAll('\n', '\r\n')
  const [before, after] = [old, content].map((text) => text.split(/(?<=\n)/))
  const plain = before.map((line) => line.replace(/\r\n$/, '\n'))
  const parts = diffArrays(plain, after, { timeout: COMPARE_MS })
  // Texts that have so little in common are another text.
  if (parts === undefined) return content
  let at = 0
  let end = endOf(before[0] ?? '') ?? '\n'
  /** The lines in whose place the next added ones stand. */
  let replaced: string[] = []
  return parts.flatMap(({ value, added, removed }) => {
    const old = added ? replaced : before.slice(at, at + value.length)
    if (!added) at += value.length
    replaced = removed ? old : []
    if (removed) return []
    return value.map((line, nth) => {
      end = endOf(old[nth] ?? '') ?? end
      return line.replace(/\n$/, end)
    })
  }).join('')
}

const endOf = (line: string): string | undefined => /\r?\n$/.exec(line)?.[0]
