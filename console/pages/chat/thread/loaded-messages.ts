import type { UIMessage } from 'ai'

/** Messages of a thread that the page has: those from position `from` on. An answer may have several positions. */
export interface LoadedMessages {
  from: number
  messages: UIMessage[]
}

/** Puts a page that was read again in its place. What was read before it stays, unless there is a gap between the two. */
export function withPage (loaded: LoadedMessages, page: LoadedMessages): LoadedMessages {
  const first = page.messages[0]?.id
  const kept = loaded.messages.findIndex(({ id }) => id === first)
  return kept === -1 ? page : { from: loaded.from, messages: [...loaded.messages.slice(0, kept), ...page.messages] }
}
