import { abortKind } from '../lib/abort.ts'
import { isObject } from '../lib/json.ts'

const LONGEST_TEXT = 1_000
/** The most characters of the JSON of `icons`, and of `_meta`. A larger value is left out. */
const LARGEST = 16 * 1024

/** The fields, apart from the name, of an item in a tool server's list of tools, prompts or resources. */
interface EntryNames {
  title?: string
  description?: string
  icons?: object[]
  _meta?: object
}

const isSmall = (value: unknown): boolean => JSON.stringify(value).length <= LARGEST

/** Returns the title, description, icons and `_meta` of an item of a server's list. Long texts are cut; too large values are left out. */
export function namesOf (entry: Record<string, unknown>): EntryNames {
  const { title, description, icons, _meta } = entry
  return {
    ...(typeof title === 'string' && title !== '' && { title: title.slice(0, LONGEST_TEXT) }),
    ...(typeof description === 'string' && { description: description.slice(0, LONGEST_TEXT) }),
    ...(Array.isArray(icons) && icons.length > 0 && icons.every(isObject) && isSmall(icons) && { icons }),
    ...(isObject(_meta) && isSmall(_meta) && { _meta })
  }
}

/**
 * Reads a list of a server page by page, until it ends, or until `pages` pages or more than `most` items are read. Rejects as `request`
 * does. `isCut` is true if the server might have more items.
 */
export async function readPages (
  request: (cursor: { cursor?: string }) => Promise<Record<string, unknown>>,
  key: string,
  { pages, most }: { pages: number, most: number }
): Promise<{ all: unknown[], isCut: boolean }> {
  const all: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; page < pages && all.length <= most; page++) {
    const { [key]: entries, nextCursor } = await request(cursor === undefined ? {} : { cursor })
    // Not `push(...entries)`: the number of arguments of a call is limited.
    for (const entry of Array.isArray(entries) ? entries : []) all.push(entry)
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) return { all, isCut: all.length > most }
    cursor = nextCursor
  }
  return { all, isCut: true }
}

/** Returns a server's message without the full stop at its end, for use inside a sentence. */
export const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '')

/** Returns a clause that says why a server did not answer a request. */
export const whyUnanswered = (error: Error): string => abortKind(error) === 'timeout' ? NO_ANSWER : withoutStop(error.message)

/** The message of a request's time limit: a clause about the server. */
export const NO_ANSWER = 'it did not answer in time'
