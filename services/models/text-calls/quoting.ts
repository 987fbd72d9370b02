const FENCE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})([^\n]*)$/
/** The most characters of a line that are kept. */
const LONGEST_LINE = 16_000

/**
 * Follows the Markdown structure of a text as it arrives, to know whether the next characters are in code or in a quotation. A call in such
 * text is shown to the user and not executed.
 */
export function createQuoting () {
  let line = ''
  /** True if the line holds only blanks. Updated with each piece of the text, because searching a long line each time would be slow. */
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
    /** Adds a piece of the text. The other members then describe the position behind the piece. */
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
    /** Marks the rest of the current line as quoted. Called when text follows a call in this line: then the line is about calls. */
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
    /** True if the text begins like a transcript in the ReAct format. */
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

/** True if a line ends inside a code span: behind backticks that the same number of backticks has not closed. */
function isInCode (line: string): boolean {
  let open = 0
  for (const [run] of line.matchAll(/`+/g)) {
    if (open === 0) open = run.length
    else if (open === run.length) open = 0
  }
  return open !== 0
}
