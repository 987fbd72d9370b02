import { abortKind } from '../lib/abort.ts'
import { isObject } from '../lib/json.ts'

const LONGEST_TEXT = 1_000
/** The most characters of `icons` and of `_meta`, as JSON; larger ones are left out. */
const LARGEST = 16 * 1024

/** The fields of an entry in a tool server's lists, beside its name. */
export interface EntryNames {
  title?: string
  description?: string
  icons?: object[]
  _meta?: object
}

const isSmall = (value: unknown): boolean => JSON.stringify(value).length <= LARGEST

/** Returns the title, the description, the icons and the `_meta` of an entry of a server's list, as the server gives them. */
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
 * Reads a list of a server, page after page, until it ends, or until `pages` pages or more than `most` entries are read. Rejects as
 * `request` does. `isCut` says whether the server may have more.
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
    // Not passed as arguments of one call, because the number of arguments is limited.
    for (const entry of Array.isArray(entries) ? entries : []) all.push(entry)
    if (typeof nextCursor !== 'string' || nextCursor === '' || nextCursor === cursor) return { all, isCut: all.length > most }
    cursor = nextCursor
  }
  return { all, isCut: true }
}

/** Returns a server's message as a part of a sentence. */
export const withoutStop = (text: string): string => text.replace(/[.\s]+$/, '')

/** Returns why a server did not answer a request, as a clause. */
export const whyUnanswered = (error: Error): string => abortKind(error) === 'timeout' ? NO_ANSWER : withoutStop(error.message)

/** The message of a time limit for a request, a clause. */
export const NO_ANSWER = 'it did not answer in time'
