import { OPEN, type Reading, type ReadCalls, skipBlanks, TEXT, type TextCall } from './dialect.ts'
import { findJsonEnd } from '../../lib/nearly-json.ts'

// Calls of DeepSeek and Kimi: a section between two tokens. Within the section, each call has a begin token, a separator and an end token.

const SECTION = /<[|｜]tool[▁_]calls(?:[▁_]section)?[▁_]begin[|｜]>\s*/y
const SECTION_END = /\s*<[|｜]tool[▁_]calls(?:[▁_]section)?[▁_]end[|｜]>/y
const CALL = /\s*<[|｜]tool[▁_]call[▁_]begin[|｜]>\s*/y
const CALL_END = /\s*<[|｜]tool[▁_]call[▁_]end[|｜]>/y
const SEPARATOR = /^\s*([\w.:/-]*)\s*<[|｜]tool[▁_](?:sep|call[▁_]argument[▁_]begin)[|｜]>\s*(?:([\w.:/-]+)\s*)?(?:```(?:json)?\s*)?/

const lengthAt = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

/** Parses a section of calls, or calls without the tokens of a section. */
export const readSection: ReadCalls = (text, at, _tools, isEnd): Reading => {
  const calls: TextCall[] = []
  let here = at + lengthAt(SECTION, text, at)
  for (;;) {
    const begin = lengthAt(CALL, text, here)
    if (begin === 0) break
    const head = SEPARATOR.exec(text.slice(here + begin, here + begin + 400))
    if (head === null) return text.length - here - begin < 300 ? OPEN : TEXT
    const from = here + begin + head[0].length
    if (from >= text.length) return OPEN
    if (text[from] !== '{') return from + 12 > text.length && !isEnd ? OPEN : TEXT
    const found = findJsonEnd(text, from)
    if (!('end' in found)) return OPEN
    // DeepSeek R1 writes the word "function" before the separator, and the name behind it.
    calls.push({ name: head[2] ?? head[1], input: text.slice(from, found.end) })
    here = found.end + (/^\s*```/.exec(text.slice(found.end, found.end + 20))?.[0].length ?? 0)
    here += lengthAt(CALL_END, text, here)
  }
  if (calls.length === 0) return skipBlanks(text, here) >= text.length || /^\s*<[^>]*$/.test(text.slice(here)) ? OPEN : TEXT
  return { is: 'calls', calls, end: here + lengthAt(SECTION_END, text, here) }
}
