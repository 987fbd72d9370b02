/** Separates the line number from the line in the text that models get. */
export const NUMBER_MARK = '→'

/**
 * The requested part of a text: at most `limit` lines beginning with line `offset`, the first of them from `column` on. Lines and columns
 * count from 1.
 */
export interface LineRequest {
  offset: number
  column: number
  limit: number
}

/** The lines that fit into one answer, and the position where the next answer begins. */
export interface LineRange {
  content: string
  startLine: number
  endLine: number
  startColumn: number
  nextOffset?: number
  /** Set if the range ends inside a line: the column where the next answer begins. */
  nextColumn?: number
}

/**
 * Collects the requested lines from pieces of text; the first piece begins at line `offset`. Takes whole lines until their JSON, with line
 * numbers, fills `maxBytes` bytes. If the first line alone is longer, takes a part of it. Columns count UTF-16 units, and surrogate pairs
 * are not split.
 */
export function createLineCollector ({ offset, column, limit }: LineRequest, maxBytes: number) {
  const lines: string[] = []
  let used = 0
  let line = offset
  let pending = ''
  let toSkip = column - 1
  let startColumn = column
  let nextColumn: number | undefined
  let isFull = false
  let hasMore = false as boolean

  const costOf = (text: string) => Buffer.byteLength(JSON.stringify(text)) + String(line).length + NUMBER_MARK.length * 3

  function addLine (text: string) {
    lines.push(text)
    used += costOf(text)
  }

  function endLine () {
    addLine(pending)
    pending = ''
    line += 1
    isFull = lines.length >= limit
  }

  /** Handles a pending line that does not fit: leaves it to the next answer or, if it is the only line of this answer, cuts it. */
  function cutPending () {
    isFull = true
    hasMore = true
    if (lines.length > 0) return
    const room = maxBytes - costOf('')
    let length = Math.min(pending.length, room)
    while (costOf(pending.slice(0, length)) > maxBytes) {
      length = Math.floor(length * Math.min(room / costOf(pending.slice(0, length)), 0.99))
    }
    if (isLowSurrogate(pending, length)) length -= 1
    addLine(pending.slice(0, length))
    nextColumn = startColumn + length
  }

  function skip (text: string): string {
    const skipped = Math.min(toSkip, text.length)
    toSkip -= skipped
    // A column inside a surrogate pair counts as the next one.
    if (toSkip > 0 || !isLowSurrogate(text, skipped)) return text.slice(skipped)
    startColumn += 1
    return text.slice(skipped + 1)
  }

  function add (text: string, isWhole: boolean) {
    pending += toSkip > 0 ? skip(text) : text
    if (pending === '') {
      // The whole line was skipped, so it does not have the requested column.
      if (isWhole) isFull = hasMore = true
    } else if (used + costOf(pending) > maxBytes) cutPending()
    else if (isWhole) endLine()
  }

  return {
    /** True if no more lines are taken. */
    get isFull () {
      return isFull
    },
    /** True if it is known that more text follows the range, so that no more pieces are needed. */
    get isDone () {
      return hasMore
    },

    /** Takes the next piece of the text. */
    feed (text: string): void {
      for (let at = 0; at < text.length && !hasMore;) {
        if (isFull) {
          hasMore = true
          return
        }
        const newline = text.indexOf('\n', at)
        const end = newline === -1 ? text.length : newline + 1
        add(text.slice(at, end), newline !== -1)
        at = end
      }
    },

    /** Ends the collection and returns the range; undefined if the text has nothing at the requested position. */
    end (): LineRange | undefined {
      if (!isFull && pending !== '') endLine()
      const content = lines.join('')
      if (content === '') return undefined
      return {
        content,
        startLine: offset,
        endLine: offset + lines.length - 1,
        startColumn,
        ...(nextColumn !== undefined ? { nextOffset: offset, nextColumn } : hasMore && { nextOffset: line })
      }
    }
  }
}

function isLowSurrogate (text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns the lines with their numbers before them. */
export function numbered (content: string, startLine: number): string {
  let line = startLine
  return content.replace(/[^\n]*\n|[^\n]+$/g, (text) => `${line++}${NUMBER_MARK}${text}`)
}
