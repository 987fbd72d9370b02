import type { TextForm } from './text-encoding.ts'

/** The time limit for comparing the lines of two texts, in milliseconds. */
const COMPARE_MS = 1_000

/**
 * Returns `content`, whose lines end with LF, with the line ends of the old text. A new line gets the line end of the line that it
 * replaces, or of the line before it. If a text with mixed line ends takes too long to compare, returns `content` unchanged.
 */
export async function withLineEnds (content: string, old: string, lineEnds: TextForm['lineEnds']): Promise<string> {
  if (lineEnds === 'lf') return content
  if (lineEnds === 'crlf') return content.replaceAll('\n', '\r\n')
  const { diffArrays } = await import('diff')
  const [before, after] = [old, content].map((text) => text.split(/(?<=\n)/))
  const plain = before.map((line) => line.replace(/\r\n$/, '\n'))
  const parts = diffArrays(plain, after, { timeout: COMPARE_MS })
  // Texts that differ so much have no corresponding lines.
  if (parts === undefined) return content
  let at = 0
  let end = endOf(before[0] ?? '') ?? '\n'
  /** The removed lines that the next added lines replace. */
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
