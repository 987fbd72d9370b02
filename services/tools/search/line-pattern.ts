import { translatePattern } from './translate-pattern.ts'

/** A compiled pattern, in the forms that `linesMatching` needs. */
interface LinePattern {
  /** Finds the next match in a text. */
  inText: RegExp
  /** Tests one line. */
  inLine: RegExp
  /** True if a match can span several lines: the pattern contains a line end, or a dot that matches line ends. */
  spansLines: boolean
  /** True if a line on its own can match although it does not match within the whole text. */
  looksAround: boolean
  /** An ASCII text that is contained in every file with a match; undefined if none is known. */
  contained?: string
}

/** Matches a pattern without operators. */
const PLAIN = /^[\w \-"'`#%&,:;<>=@~/!]+$/
/** Matches `.*` at the beginning or end of a pattern. It changes nothing about which lines match, but costs time. */
const SURROUNDING_ANY = /^(?:\.\*\??)+(?=.)|(?<=[^\\])(?:\.\*\??)+$/g

/** Escapes a text so that a regular expression matches it literally. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Compiles a pattern in any common regular expression dialect. Throws SyntaxError. */
export function compilePattern (pattern: string, isCaseSensitive: boolean): LinePattern {
  const translated = translatePattern(pattern)
  const source = /[|\\]/.test(translated.source) ? translated.source : translated.source.replace(SURROUNDING_ANY, '')
  const ignoresCase = !isCaseSensitive || translated.ignoresCase
  const flags = `um${ignoresCase ? 'i' : ''}${translated.dotMatchesAll ? 's' : ''}`
  return {
    inText: new RegExp(source, `g${flags}`),
    inLine: new RegExp(source, flags),
    spansLines: /\\n|\n/.test(pattern) || translated.dotMatchesAll,
    looksAround: /\(\?<?[=!]/.test(source),
    ...!ignoresCase && PLAIN.test(source) && { contained: source }
  }
}

/**
 * A matching line, or the lines that a match spans. `start` and `end` are positions in the text; `end` is exclusive and without the line
 * end.
 */
export interface LineMatch {
  line: number
  start: number
  end: number
  /** The position in the text where the match begins. */
  at: number
}

/** Yields the lines of a text that match, each line once. */
export function * linesMatching (text: string, pattern: LinePattern): Generator<LineMatch> {
  const { inText, inLine, spansLines, looksAround } = pattern
  let line = 1
  let start = 0
  const endOfLine = (from: number) => {
    const newline = text.indexOf('\n', from)
    return newline === -1 ? text.length : newline
  }
  for (let from = 0; ;) {
    let at = from
    let length = 0
    if (!looksAround || spansLines) {
      // Without lookaround, a line that matches on its own also matches within the text. Lines before the first match need no test of their
      // own.
      inText.lastIndex = from
      const match = inText.exec(text)
      if (match === null || (match.index === text.length && text.endsWith('\n'))) return
      at = match.index
      length = match[0].length
    }
    for (let newline = text.indexOf('\n', start); newline !== -1 && newline < at; newline = text.indexOf('\n', start)) {
      start = newline + 1
      line++
    }
    const lineEnd = endOfLine(at)
    const end = spansLines && length > 0 ? endOfLine(Math.max(at, at + length - 1)) : lineEnd
    const isInside = !looksAround && at + length <= lineEnd
    const own = spansLines || isInside ? at : indexIn(text.slice(start, lineEnd), inLine, start)
    if (own !== undefined) yield { line, start, end, at: own }
    from = end + 1
    if (from >= text.length) return
  }
}

function indexIn (line: string, inLine: RegExp, start: number): number | undefined {
  const match = inLine.exec(line)
  return match === null ? undefined : start + match.index
}
