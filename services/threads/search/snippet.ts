import type { Found, Match } from './query.ts'

/** Characters of a snippet, and of those before the match that it is about. */
const SNIPPET = 240
const BEFORE = 60

interface Snippet {
  text: string
  matches: Match[]
}

/** Returns the part of a text around the first place of its last term, on one line, with the matches in it. */
export function snippetOf (text: string, { matches, at }: Found): Snippet {
  const from = beginOf(text, Math.max(0, at - BEFORE), at)
  const to = Math.min(text.length, from + SNIPPET)
  const before = from > 0 ? '…' : ''
  const shift = before.length - from
  // One character for each, so that the places stay.
  const line = text.slice(from, to).toWellFormed().replace(/[\s\p{Cc}]/gu, ' ')
  return {
    text: `${before}${line}${to < text.length ? '…' : ''}`,
    matches: matches.filter(({ start }) => start >= from && start < to)
      .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, to) + shift }))
  }
}

/** Returns where a word begins at or after `from`, unless that is behind `first`. */
function beginOf (text: string, from: number, first: number): number {
  if (from === 0) return 0
  const blank = text.slice(from, first).search(/\s/)
  return blank === -1 ? from : from + blank + 1
}
