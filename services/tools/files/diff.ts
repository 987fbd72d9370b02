import { sep } from 'node:path'

/** The most characters of a text that is compared. The comparison blocks the main thread; its time depends only on the number of lines. */
const COMPARED_CHARS = 2 * 1024 * 1024
/** The number of unchanged lines shown around each change. */
const CONTEXT = 3
/** The most characters of a diff that a model can read too, and of a diff that a person reads before deciding. */
const SHOWN_CHARS = 16 * 1024
export const PREVIEW_CHARS = 512 * 1024

/**
 * Returns a unified diff, cut to `limit` characters, or a note that says why there is none. `before` is undefined if the old content is not
 * text or was not read, and null if the file did not exist.
 */
export async function unifiedDiff (path: string, before: string | null | undefined, after: string, limit = SHOWN_CHARS): Promise<string> {
  if (before === undefined) return '(the old content is no text or too long to compare)'
  if (before === after) return ''
  const old = before ?? ''
  if (old.length > COMPARED_CHARS || after.length > COMPARED_CHARS) return '(too long to compare)'
  const [{ formatPatch, FILE_HEADERS_ONLY }, { diffHunks }] = await Promise.all([import('diff'), import('./line-diff.ts')])
  // Unified diffs use forward slashes on every system.
  const name = path.replaceAll(sep, '/')
  const from = before === null ? '/dev/null' : `a/${name}`
  const names = { oldFileName: from, newFileName: `b/${name}`, oldHeader: undefined, newHeader: undefined }
  const whole = formatPatch({ ...names, hunks: diffHunks(old, after, CONTEXT) }, FILE_HEADERS_ONLY)
  if (whole.length <= limit) return whole
  const cut = whole.lastIndexOf('\n', limit) + 1 || limit
  return `${whole.slice(0, cut)}(… ${whole.length - cut} more characters of the diff are left out)\n`
}
