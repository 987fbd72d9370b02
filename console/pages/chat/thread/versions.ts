import type { UIMessage } from 'ai'

/** Versions of a message that are kept, and the characters that all of a conversation may have in the storage of the tab. */
const MOST = 10
const MOST_CHARACTERS = 500_000

/** What a message of the user was before it was edited or answered again, and what was answered then. */
export interface Version {
  text: string
  answer: string
}

const keyOf = (threadId: string) => `draft versions ${threadId}`
const textOf = ({ parts }: UIMessage) => parts.flatMap((part) => part.type === 'text' ? part.text : []).join('\n\n')

function read (threadId: string): Record<string, Version[]> {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(threadId)) ?? '{}')
  } catch {
    return {}
  }
}

/** Returns the earlier versions of a message, the oldest first. The service has the newest one alone, so they are of this tab. */
export const versionsOf = (threadId: string, messageId: string): Version[] => read(threadId)[messageId] ?? []

/** Keeps what is about to be replaced: a message of the user with all that was answered until the next one. */
export function keepVersion (threadId: string, messages: UIMessage[], messageId: string): void {
  const at = messages.findIndex(({ id }) => id === messageId)
  if (at === -1) return
  const next = messages.findIndex(({ role }, n) => n > at && role === 'user')
  const answer = messages.slice(at + 1, next === -1 ? undefined : next).map(textOf).join('\n\n')
  const all = read(threadId)
  const json = JSON.stringify({ ...all, [messageId]: [...all[messageId] ?? [], { text: textOf(messages[at]), answer }].slice(-MOST) })
  if (json.length > MOST_CHARACTERS) return
  try {
    sessionStorage.setItem(keyOf(threadId), json)
  } catch {
    // The storage of the tab is full: the version is lost.
  }
}
