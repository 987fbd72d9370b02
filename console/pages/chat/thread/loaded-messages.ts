import type { UIMessage } from 'ai'

/** The loaded messages of a thread: those from position `from` to the end. An answer can take several positions. */
export interface LoadedMessages {
  from: number
  messages: UIMessage[]
}

/** Merges a page that was read again. Earlier messages stay, unless there is a gap between them and the page. */
export function withPage (loaded: LoadedMessages, page: LoadedMessages): LoadedMessages {
  const first = page.messages[0]?.id
  const kept = loaded.messages.findIndex(({ id }) => id === first)
  return kept === -1 ? page : { from: loaded.from, messages: [...loaded.messages.slice(0, kept), ...page.messages] }
}
