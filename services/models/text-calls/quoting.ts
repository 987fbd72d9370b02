const FENCE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})([^\n]*)$/
/** Characters of a line that are kept. */
const LONGEST_LINE = 16_000

/**
 * Follows the Markdown of a text, to know whether the next characters are quoted, in code or in a quotation: such text is shown and not
 * executed.
 */
export function createQuoting () {
  let line = ''
  /** True if the line holds only blanks. It grows with each piece of the text, so it is not searched each time. */
  let isBlank = true
  let fence: string | undefined
  let isAfterBlank = false
  let isLineQuoted = false
  let hasText = false
  let beginning = ''

  function endLine () {
    const [, mark, info] = FENCE.exec(line) ?? []
    if (fence === undefined) {
      if (mark !== undefined && !(mark[0] === '`' && info.includes('`'))) fence = mark
    } else if (mark?.[0] === fence[0] && mark.length >= fence.length && info.trim() === '') fence = undefined
    isAfterBlank = isBlank
    isBlank = true
    line = ''
    isLineQuoted = false
  }

  function grow (more: string) {
    if (line.length >= LONGEST_LINE) return
    line += more
    isBlank &&= more.trim() === ''
  }

  return {
    /** Follows the text up to what comes next. */
    advance (text: string) {
      hasText ||= /\S/.test(text)
      if (beginning.length < 20) beginning = (beginning + text).slice(0, 20)
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        grow(text.slice(from, end))
        endLine()
        from = end + 1
      }
      grow(text.slice(from))
    },
    /** A call was followed by words in its line. So the line is about calls, and its other parts count as quoted, too. */
    quoteLine () {
      isLineQuoted ||= line.trim() !== ''
    },
    get hasText () {
      return hasText
    },
    get isLineStart () {
      return isBlank
    },
    get isFenced () {
      return fence !== undefined
    },
    /** The last two characters of the line so far. */
    get before () {
      return line.slice(-2)
    },
    /** True if the text begins like a transcript of ReAct. */
    get isTranscript () {
      return /^\s*(?:Thought|Question):/.test(beginning)
    },
    /** True if the next characters stand in code or in a quotation. */
    get isQuoted () {
      return fence !== undefined || isLineQuoted || /^\s{0,3}>/.test(line) || isInCode(line) ||
        (hasText && isAfterBlank && /^(?: {4,}|\t)\s*$/.test(line))
    }
  }
}

/** True if a line ends inside a span of code: backticks without the same number of backticks behind them. */
function isInCode (line: string): boolean {
  let open = 0
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === 0) open = run.length
    else if (open === run.length) open = 0
  }
  return open !== 0
}
