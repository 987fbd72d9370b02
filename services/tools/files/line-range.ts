/** Separates the line number from the line in the form that models get. */
export const NUMBER_MARK = '→'

/** The requested part of a text: at most `limit` lines from line `offset` on, the first from `column` on; both are counted from 1. */
export interface LineRequest {
  offset: number
  column: number
  limit: number
}

/** The lines that fit into one answer, and the place where the next answer begins. */
export interface LineRange {
  content: string
  startLine: number
  endLine: number
  startColumn: number
  nextOffset?: number
  /** Set when the range ends inside a line. */
  nextColumn?: number
}

/**
 * Collects the requested lines from pieces of text, the first of which begins at line `offset`. Takes whole lines until their JSON, with
 * line numbers, fills `maxBytes` bytes; of a line that is longer than that it takes a part. Columns count UTF-16 units; surrogate
 * pairs are not split.
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

  /** The pending line does not fit: leave it to the next answer, or cut it when it is the only line of this answer. */
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
    // A column inside a surrogate pair stands for the next character.
    if (toSkip > 0 || !isLowSurrogate(text, skipped)) return text.slice(skipped)
    startColumn += 1
    return text.slice(skipped + 1)
  }

  function add (text: string, isWhole: boolean) {
    pending += toSkip > 0 ? skip(text) : text
    if (pending === '') {
      // The whole line was skipped: it has no such column.
      if (isWhole) isFull = hasMore = true
    } else if (used + costOf(pending) > maxBytes) cutPending()
    else if (isWhole) endLine()
  }

  return {
    /** True when no more lines are taken. */
    get isFull () {
      return isFull
    },
    /** True when it is also known that more text follows: no more pieces are needed. */
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

    /** Ends the collection and returns the range; undefined when the text has nothing at the requested place. */
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

/** Returns the lines of a range, each prefixed with its number. */
export function numbered (content: string, startLine: number): string {
  let line = startLine
  return content.replace(/[^\n]*\n|[^\n]+$/g, (text) => `${line++}${NUMBER_MARK}${text}`)
}
