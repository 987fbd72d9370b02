/** What separates a line's number from the line where a model is shown it. */
export const NUMBER_MARK = '→'

/** Which part of a text is wanted: lines from `offset` on, the first of them from `column` on, both counted from 1. */
export interface Wanted {
  offset: number
  column: number
  limit: number
}

/** The lines that fit into one answer, and where the next answer begins. */
export interface Range {
  content: string
  startLine: number
  endLine: number
  startColumn: number
  nextOffset?: number
  /** Set when the range ends inside a line. */
  nextColumn?: number
}

/**
 * Collects the wanted lines from pieces of text, of which the first begins at line `offset`. Takes whole lines until
 * `most` bytes of JSON are full, as a model is shown them; of a line that is longer than that, a part. Columns count
 * UTF-16 units; no surrogate pair is split.
 */
export function createRange ({ offset, column, limit }: Wanted, most: number) {
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

  function take (text: string) {
    lines.push(text)
    used += costOf(text)
  }

  function endLine () {
    take(pending)
    pending = ''
    line += 1
    isFull = lines.length >= limit
  }

  /** The pending line does not fit: it is left to the next answer, or cut where nothing else is shown. */
  function overflow () {
    isFull = true
    hasMore = true
    if (lines.length > 0) return
    const room = most - costOf('')
    let length = Math.min(pending.length, room)
    while (costOf(pending.slice(0, length)) > most) length = Math.floor(length * Math.min(room / costOf(pending.slice(0, length)), 0.99))
    if (isLow(pending, length)) length -= 1
    take(pending.slice(0, length))
    nextColumn = startColumn + length
  }

  function skip (text: string): string {
    const skipped = Math.min(toSkip, text.length)
    toSkip -= skipped
    // A column inside a pair of surrogates means the character behind it.
    if (toSkip > 0 || !isLow(text, skipped)) return text.slice(skipped)
    startColumn += 1
    return text.slice(skipped + 1)
  }

  function add (text: string, isWhole: boolean) {
    pending += toSkip > 0 ? skip(text) : text
    if (pending === '') {
      // The whole line was skipped: nothing stands at that column.
      if (isWhole) isFull = hasMore = true
    } else if (used + costOf(pending) > most) overflow()
    else if (isWhole) endLine()
  }

  return {
    /** No more lines are taken. */
    get isFull () {
      return isFull
    },
    /** It is also known that there is more behind them: no more pieces are needed. */
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

    /** The text is over, or enough of it was read. Undefined when nothing stands at the wanted place. */
    end (): Range | undefined {
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

function isLow (text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The lines of a range, each with its number before it. */
export function numbered (content: string, startLine: number): string {
  let line = startLine
  return content.replace(/[^\n]*\n|[^\n]+$/g, (text) => `${line++}${NUMBER_MARK}${text}`)
}
