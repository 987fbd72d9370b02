import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { FILE_OPENING, NOTE_OPENING, PROMPT_OPENING, SKILL_OPENING } from '../../contracts/model-texts.ts'
import { tokensIn } from '../../models/index.ts'

// If messages are summarised or left out, the user's own words are kept. Code, not a model, shortens them to a token budget.

/** The openings of texts that the service adds to messages of the user. */
const ADDED = [NOTE_OPENING, FILE_OPENING, PROMPT_OPENING, SKILL_OPENING]
/** The most characters of one message that are kept for later shortening. */
const KEPT = 2_000
/** A message is not shortened below this many characters, because less would have no meaning. */
const SHORTEST = 80
/** The most names that are kept from the part of a message that is cut out. */
const MOST_NAMES = 12
/** Match paths, addresses, codes and numbers. */
const NAMES = /[\p{L}\p{N}~_@][^\s,;()[\]{}"'`\u201C\u201D\u00AB\u00BB<>]*/gu
const TELLS = /\p{N}|[/\\@_]|\p{L}[.-]\p{L}|\p{Ll}\p{Lu}/u

export const tokensInAll = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + tokensIn(text), 0)

/** Messages that belong together. */
interface Said {
  role: string
  messages: LanguageModelV4Message[]
}

/**
 * Returns the user's own words in these units (user messages, and model messages with their tool results), without texts that the service
 * added.
 */
export function ownWordsIn (units: readonly Said[]): string[] {
  return units.filter(({ role }) => role === 'user').flatMap(({ messages }) => messages.flatMap(({ content }) => {
    const texts = typeof content === 'string' ? [content] : content.flatMap((part) => part.type === 'text' ? [part.text] : [])
    const said = texts.filter((text) => !ADDED.some((opening) => text.startsWith(opening))).join('\n').trim()
    return said === '' ? [] : [cutMessage(said, KEPT)]
  }))
}

/**
 * Shortens messages so that all of them together fit into `tokens` tokens. Long messages are cut first, all to the same length, so that
 * short orders stay complete. Only if that is not enough, the oldest messages are left out. Names, paths and numbers from the cut parts are
 * kept while there is room.
 */
export function cutWords (messages: readonly string[], tokens: number): string[] {
  let kept = messages
  while (kept.length > 0) {
    for (let length = KEPT; ; length = Math.floor(length / 1.5)) {
      const cut = kept.map((message) => cutMessage(message, Math.max(length, SHORTEST)))
      if (tokensInAll(cut) <= tokens) return cut
      if (length <= SHORTEST) break
    }
    kept = kept.slice(Math.max(1, Math.floor(kept.length / 8)))
  }
  return []
}

/** Shortens a message to about `length` characters: its beginning, its end, and the names from the part that is cut out between them. */
function cutMessage (message: string, length: number): string {
  if (message.length <= length) return message
  const head = Math.ceil(length * 0.6)
  const tail = Math.floor(length * 0.2)
  const between = message.slice(head, message.length - tail)
  const names = [...new Set(between.match(NAMES) ?? [])].filter((name) => TELLS.test(name) && name.length < length / 4).slice(0, MOST_NAMES)
  const left = names.length === 0 ? '[…]' : `[… ${names.join(' ')} …]`
  return `${message.slice(0, head)} ${left} ${message.slice(message.length - tail)}`.toWellFormed()
}

/** Returns the text that lists the user's words in a note; '' if there are none. */
export const ownWordsNote = (words: readonly string[]): string =>
  words.length === 0
    ? ''
    : `\n\nWhat the user said there, in their own words, oldest first:\n${words.map((text) => `- ${text}`).join('\n')}`
