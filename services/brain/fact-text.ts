import { defineError } from '../lib/service-error.ts'

const TextLength = defineError('ERR_INVALID_REQUEST', 'body.%s must have 1 to %d characters after trimming, not %d.')

/**
 * Normalises facts and keys for storage: trimmed, in Unicode's composed form (NFC), and without lone surrogates, which
 * model providers refuse. Throws TextLength (400) unless 1 to `limit` code points are left.
 */
export function normalise (field: string, text: string, limit: number): string {
  const normal = text.toWellFormed().normalize('NFC').trim()
  const length = [...normal].length
  if (length < 1 || length > limit) throw new TextLength(field, limit, length)
  return normal
}

/**
 * Matches the marks at the end of a statement, in any script. Question marks are not among them, because a
 * question is not the same as its statement.
 */
const END = /[\s.!\u2026\u3002\uFF0E\uFF01\uFF61\u0964\u06D4\u0589\u1362\u104B\u17D4]+$/u

/**
 * Folds a text for comparison: removes differences in case, blanks and end marks. Letters that only look alike
 * stay different: Turkish "sıkıldım" is not "sikildim", German "Maße" is not "Masse".
 */
export function foldText (text: string): string {
  const trimmed = text.toWellFormed().normalize('NFC').replaceAll('\u2019', "'").trim()
  return foldCase(trimmed.replace(END, '') || trimmed).replace(/\s+/g, ' ')
}

/** Folds the case of each letter. The number of letters stays the same. */
export const foldCase = (text: string): string => [...text].map(foldLetter).join('')

/** Folds the case of one letter as Unicode's simple case folding does. A letter whose other case has several letters stays as it is. */
function foldLetter (letter: string): string {
  const lower = single(letter.toLowerCase(), letter)
  // The dotless i would fold to i, because both have the same upper case, so it stays as it is.
  return lower === '\u0131' ? lower : single(single(lower.toUpperCase(), lower).toLowerCase(), lower)
}

const single = (text: string, otherwise: string) => [...text].length === 1 ? text : otherwise

/** The most topics of an entry, and the most characters of each. */
const MAX_TOPICS = 10
const MAX_TOPIC = 40

/**
 * Returns the valid topics in a model's answer, MAX_TOPICS at most. Anything but a list gives none, and entries that are empty, too long or
 * no text are left out. Topics serve to find entries; no prompt contains them.
 */
export const topicsIn = (topics: unknown): string[] =>
  !Array.isArray(topics)
    ? []
    : topics.filter((topic): topic is string => typeof topic === 'string' && topic.trim() !== '' && topic.length <= MAX_TOPIC)
      .map((topic) => topic.toWellFormed().trim()).slice(0, MAX_TOPICS)
