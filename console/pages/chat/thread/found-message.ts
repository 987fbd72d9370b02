import type { SearchResult } from '../../../../client/generated/index.ts'

/** A message that a search has found, and the matching text. */
export interface FoundMessage {
  messageId: string
  /** The position of the message in the thread. */
  position: number
  words: string
}

/** Returns the address of a conversation that opens at a found message. */
export function foundPath ({ threadId, messageId = '', position = 0, snippet: { text, matches: [match] } }: SearchResult): string {
  const words = match === undefined ? '' : text.slice(match.start, match.end)
  return `/chat/${encodeURIComponent(threadId)}?${new URLSearchParams({ message: messageId, position: String(position), words })}`
}

/** Returns the message that the query string of such an address names. */
export function foundIn (query: string): FoundMessage | undefined {
  const given = new URLSearchParams(query)
  const messageId = given.get('message')
  if (messageId === null) return undefined
  return { messageId, position: Number(given.get('position')), words: given.get('words') ?? '' }
}
