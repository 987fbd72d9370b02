import { sep } from 'node:path'

/** Longer texts are not compared: the time is quadratic in the differences, and the comparison blocks the main thread. */
const COMPARED_CHARS = 256 * 1024
const COMPARED_MS = 50
const SHOWN_CHARS = 16 * 1024

/**
 * Returns a unified diff, cut to 16 Ki characters, or a note that says why there is none. `before` is undefined for content that is not
 * text or was not read, null for a file that did not exist.
 */
export async function unifiedDiff (path: string, before: string | null | undefined, after: string): Promise<string> {
  if (before === undefined) return '(the old content is no text or too long to compare)'
  if (before === after) return ''
  const old = before ?? ''
  if (old.length > COMPARED_CHARS || after.length > COMPARED_CHARS) return '(too long to compare)'
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  // Diffs have slashes on every system.
  const name = path.replaceAll(sep, '/')
  const from = before === null ? '/dev/null' : `a/${name}`
  const options = { context: 3, timeout: COMPARED_MS, headerOptions: FILE_HEADERS_ONLY }
  const whole = createTwoFilesPatch(from, `b/${name}`, old, after, undefined, undefined, options)
  if (whole === undefined) return '(too different to compare)'
  if (whole.length <= SHOWN_CHARS) return whole
  const cut = whole.lastIndexOf('\n', SHOWN_CHARS) + 1 || SHOWN_CHARS
  return `${whole.slice(0, cut)}(… ${whole.length - cut} more characters of the diff are left out)\n`
}
