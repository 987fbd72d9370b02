import type { UIMessage } from 'ai'

/** Messages of a thread that the page has: those from position `from` on. */
export interface LoadedMessages {
  from: number
  messages: UIMessage[]
}

/** Puts a page that was read again in its place. What was read before it stays, unless there is a gap between the two. */
export function withPage (loaded: LoadedMessages, page: LoadedMessages): LoadedMessages {
  const kept = page.from - loaded.from
  if (kept < 0 || kept > loaded.messages.length) return page
  return { from: loaded.from, messages: [...loaded.messages.slice(0, kept), ...page.messages] }
}
