/** A piece of a Markdown text that is rendered on its own: Markdown, or lines of a fenced code block. */
export interface Block {
  kind: 'markdown' | 'code'
  text: string
  language?: string
}

interface Fence {
  /** The characters that open the fence. The closing fence has at least as many. */
  mark: string
  indent: number
  language?: string
}

/** The parser state at the beginning of a block. */
interface Start {
  at: number
  /** The fence of the code block that this block continues. */
  fence?: Fence
  /** The head of the table that this block continues. */
  head?: string
}

/** The blocks of a text, and the state for continuing when the text grows. */
export interface Split {
  text: string
  blocks: Block[]
  starts: Start[]
}

/** The maximum size of a block, in characters and lines, so that no block takes long to render. */
const MAX_CHARACTERS = 4_000
const MAX_LINES = 60

const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-*:?[ \t]*)+$/

/**
 * Splits a Markdown text into blocks that are rendered separately: at blank lines outside of code and lists, and wherever a block becomes
 * too long. `previous` is the split of the beginning of the same text; then only the last block is parsed again.
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
    // An indented list is split only if it is very long, because its later lines would lose their list item.
    else if (isFull(lines, characters, /^\S/.test(line) ? 1 : 4)) end(at, { head: headOf(lines, start) })
    isAfterBlank = line.trim() === ''
    add(line)
  }
  end(text.length)
  return { text, blocks, starts }
}

const isFull = (lines: string[], characters: number, times = 1) =>
  lines.length >= MAX_LINES * times || characters >= MAX_CHARACTERS * times

/** Yields the lines of a text from position `from`. A line that is too long is split, at a space if possible. */
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

/** Returns the head of the table that is split; undefined if the block is no table. */
function headOf (lines: string[], { head }: Start): string | undefined {
  if (head !== undefined) return head
  return lines.length > 1 && TABLE_RULE.test(lines[1]) ? `${lines[0]}\n${lines[1]}` : undefined
}
