import { isEmptyTalk } from '../../models/index.ts'

/**
 * Match words that distinguish a summary of this conversation from one of any other: paths, addresses, codes and numbers, and names with a
 * capital letter.
 */
const WORDS = /[\p{L}\p{N}~_@][^\s,;:!?()[\]{}"'`\u201C\u201D\u00AB\u00BB<>\u3001\u3002\uFF0C]*/gu
const TELLS = /\p{N}|[/\\@_]|\p{L}[.-]\p{L}|\p{Ll}\p{Lu}|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}/u
const IS_NAME = /^\p{Lu}\p{L}{2,}/u
/** Matches the beginning of a sentence, where any first word has a capital letter, even if it is not a name. */
const BEGINS = /(?:^|[.!?\u2026\n:*>"\u201C\u00AB-])\s*$/u

/** Returns the names, paths and numbers of a text, in lower case for comparison. */
function tellingWords (text: string): Set<string> {
  const words = new Set<string>()
  for (const { 0: found, index } of text.matchAll(WORDS)) {
    const word = found.replace(/[.\-/]+$/u, '')
    const isName = IS_NAME.test(word) && !BEGINS.test(text.slice(Math.max(0, index - 4), index))
    if (TELLS.test(word) || isName) words.add(word.toLowerCase())
  }
  return words
}

/**
 * Whether a summary is really about these messages. It must not be empty talk, and must contain at least one of the messages' names, paths
 * or numbers, if there are any.
 */
export function tellsOf (summary: string, messages: string): boolean {
  if (isEmptyTalk(summary)) return false
  const telling = tellingWords(messages)
  if (telling.size === 0) return true
  const folded = summary.toLowerCase()
  return [...tellingWords(summary)].some((word) => telling.has(word)) ||
    [...telling].some((word) => TELLS.test(word) && word.length >= 3 && !/^\p{N}+$/u.test(word) && folded.includes(word))
}
