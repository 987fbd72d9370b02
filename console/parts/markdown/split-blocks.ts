/** A piece of a Markdown text that is drawn by itself: Markdown, or lines of a fenced code block. */
export interface Block {
  kind: 'markdown' | 'code'
  text: string
  language?: string
}

interface Fence {
  /** The characters that open the fence; the closing ones are at least as many. */
  mark: string
  indent: number
  language?: string
}

/** The state before a block that decides how its first line is read. */
interface Start {
  at: number
  /** The fence that a piece of a long code block continues. */
  fence?: Fence
  /** The head of the table that the block continues. */
  head?: string
}

/** The blocks of a text, with all that is needed to go on when the text grows. */
export interface Split {
  text: string
  blocks: Block[]
  starts: Start[]
}

/** Longer blocks are cut, so that none takes long to draw. */
const MAX_CHARACTERS = 4_000
const MAX_LINES = 60

const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)+$/

/**
 * Splits a Markdown text into blocks that are drawn one by one: at blank lines outside of code and lists, and where a block is too
 * long. `previous` is the split of the beginning of the same text; then only its last block is read again.
 */
export function splitBlocks (text: string, previous?: Split): Split {
  const isGrown = previous !== undefined && previous.starts.length > 0 && text.startsWith(previous.text)
  const blocks = isGrown ? previous.blocks.slice(0, -1) : []
  const starts = isGrown ? previous.starts.slice(0, -1) : []
  let start: Start = isGrown ? previous.starts.at(-1)! : { at: 0 }
  let lines: string[] = []
  let characters = 0
  let isAfterBlank = false
  let fence = start.fence

  /** Ends the block before `at`, where the next one starts. */
  const end = (at: number, next: Omit<Start, 'at'> = {}) => {
    const body = lines.join('\n')
    const isCode = fence !== undefined
    if (isCode || body.trim() !== '') {
      blocks.push(isCode
        ? { kind: 'code', text: body, ...fence?.language && { language: fence.language } }
        : { kind: 'markdown', text: start.head === undefined ? body : `${start.head}\n${body}` })
      starts.push(start)
    }
    start = { at, ...next }
    lines = []
    characters = 0
    isAfterBlank = false
    fence = next.fence
  }
  const add = (line: string) => {
    lines.push(line)
    characters += line.length + 1
  }

  for (const { line, at } of linesOf(text, start.at)) {
    if (fence !== undefined) {
      if (isClosing(line, fence)) {
        end(at + line.length + 1)
        continue
      }
      if (isFull(lines, characters)) end(at, { fence })
      add(withoutIndent(line, fence.indent))
      continue
    }
    const [, indent, mark, language] = FENCE.exec(line) ?? []
    if (mark !== undefined) {
      end(at)
      fence = { mark, indent: indent.length, ...language !== '' && { language } }
      continue
    }
    if (isAfterBlank && /^\S/.test(line)) end(at)
    // Not within an indented list, unless it is very long: its lines would lose what they belong to.
    else if (isFull(lines, characters, /^\S/.test(line) ? 1 : 4)) end(at, { head: headOf(lines, start) })
    isAfterBlank = line.trim() === ''
    add(line)
  }
  end(text.length)
  return { text, blocks, starts }
}

const isFull = (lines: string[], characters: number, times = 1) =>
  lines.length >= MAX_LINES * times || characters >= MAX_CHARACTERS * times

/** Yields the lines of a text from `from` on, and pieces of lines that are too long, cut at a space where there is one. */
function * linesOf (text: string, from: number): Generator<{ line: string, at: number }> {
  let at = from
  while (at < text.length) {
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    while (end - at > MAX_CHARACTERS) {
      const space = text.lastIndexOf(' ', at + MAX_CHARACTERS)
      const cut = space > at ? space + 1 : at + MAX_CHARACTERS
      yield { line: text.slice(at, cut), at }
      at = cut
    }
    yield { line: text.slice(at, end), at }
    at = end + 1
  }
}

function isClosing (line: string, { mark }: Fence): boolean {
  const text = line.trim()
  return text.length >= mark.length && text === mark[0].repeat(text.length)
}

const withoutIndent = (line: string, indent: number) =>
  indent === 0 ? line : line.slice(Math.min(indent, line.length - line.trimStart().length))

/** Returns the head of the table that is cut; undefined if the block is none. */
function headOf (lines: string[], { head }: Start): string | undefined {
  if (head !== undefined) return head
  return lines.length > 1 && TABLE_RULE.test(lines[1]) ? `${lines[0]}\n${lines[1]}` : undefined
}
