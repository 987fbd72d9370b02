import type { RecordingRequest } from '../tools/index.ts'
import { createScrubber } from './scrub.ts'

/**
 * Returns a recording as text, with placeholders for secrets and folders; null if it exceeds `mostBytes`. The header is the first line but
 * is built last, because it lists the replacements. Runs in a worker, because a run might have read text that was written to be slow to
 * search.
 */
export function scrubLines ({ header, lines, known, folders, mostBytes }: RecordingRequest): string | null {
  const scrubber = createScrubber({ known, folders })
  for (const line of lines) scrubber.look(line)
  const texts: string[] = []
  let bytes = 0
  const add = (value: object): string => {
    const text = JSON.stringify(value)
    bytes += Buffer.byteLength(text) + 1
    return text
  }
  for (const line of lines) {
    texts.push(add(scrubber.clean(line)))
    if (bytes > mostBytes) return null
  }
  const cleaned = scrubber.clean(header)
  const replaced = scrubber.replaced()
  const first = add({ ...cleaned, ...(replaced.length > 0 && { replaced }) })
  return bytes > mostBytes ? null : [first, ...texts].map((line) => `${line}\n`).join('')
}
