/** Text to be taken literally, and where it ends in the message. */
interface Data {
  text: string
  end: number
}

const CLOSERS: Record<string, string> = {
  "'": "'",
  '"': '"',
  '“': '”',
  '‘': '’',
  '«': '»',
  '‹': '›',
  '„': '“”',
  '‚': '‘’',
  '”': '”'
}
const TICKS = /`+/y
const isWord = (char = '') => /[\p{L}\p{N}_]/u.test(char)
const isBlank = (char = ' ') => /\s/.test(char)

/**
 * Returns a function that reads the quotation, the code between backticks or the JSON object that begins at a position, if one does.
 * What was found missing once is not searched again, so that reading a message from its start to its end takes linear time.
 */
export function createDataReader (message: string): (at: number) => Data | undefined {
  /** Opening characters without an end in the rest of the message, and quotes that are not nested in it. */
  const unclosed = new Set<string>()
  const flat = new Set<string>()
  /** The next quote of a kind that no backslash escapes. */
  const nextPlain = new Map<string, number>()

  function code (at: number): Data | undefined {
    TICKS.lastIndex = at
    const ticks = TICKS.exec(message)![0]
    const start = at + ticks.length
    let end = unclosed.has(ticks) ? -1 : message.indexOf(ticks, start)
    while (ticks.length < 3 && end >= 0 && message[end + ticks.length] === '`') {
      while (message[end] === '`') end++
      end = message.indexOf(ticks, end)
    }
    if (end < 0) {
      unclosed.add(ticks)
      return ticks.length === 2 ? { text: '', end: start } : undefined
    }
    const text = message.slice(start, end)
    // The first line of a fenced block may name its language.
    return { text: ticks.length < 3 ? text : text.replace(/^[\w+#.-]*[^\S\n]*\n/, ''), end: end + ticks.length }
  }

  function quotation (at: number): Data | undefined {
    const open = message[at]
    const isSame = CLOSERS[open] === open && open !== '”'
    const end = closing(at + 1, open, CLOSERS[open])
    if (end === undefined) unclosed.add(open)
    const text = end === undefined ? '' : message.slice(at + 1, end)
    return end === undefined ? undefined : { text: isSame ? text.replaceAll(`\\${open}`, open) : text, end: end + 1 }
  }

  /**
   * Returns the end of a quotation. A quote before a letter closes nothing (it's), a quote between a blank and a letter opens an
   * inner quotation, and an escaped quote belongs to the text when the quotation ends properly further on.
   */
  function closing (start: number, open: string, closers: string): number | undefined {
    const isSame = closers === open
    let depth = 0
    let first: number | undefined
    for (let at = start; at < message.length; at++) {
      const char = message[at]
      if (!isSame && char === open) depth++
      if (!closers.includes(char)) continue
      const closes = !isWord(message[at + 1]) && !(isSame && message[at + 1] === char)
      if (isSame && isEscaped(at, start) && (!closes || nextCloses(char, at + 1))) continue
      if (closes) {
        first ??= at
        if (depth-- === 0 || flat.has(open)) return at
      } else if (isSame && isBlank(message[at - 1]) && isWord(message[at + 1])) depth++
    }
    if (first !== undefined) flat.add(open)
    return first
  }

  function isEscaped (at: number, start: number): boolean {
    let slashes = 0
    while (at - slashes > start && message[at - slashes - 1] === '\\') slashes++
    return slashes % 2 === 1
  }

  /** Whether the next unescaped quote ends a quotation, and does not begin one. */
  function nextCloses (quote: string, from: number): boolean {
    let at = nextPlain.get(quote) ?? -1
    if (at < from && at !== Infinity) {
      at = message.indexOf(quote, from)
      while (at >= 0 && isEscaped(at, from)) at = message.indexOf(quote, at + 1)
      nextPlain.set(quote, at = at < 0 ? Infinity : at)
    }
    return at !== Infinity && !(isBlank(message[at - 1]) && !isBlank(message[at + 1]))
  }

  function object (at: number): Data | undefined {
    let depth = 0
    for (let end = at; end < message.length; end++) {
      const char = message[end]
      if (char === '"') { while (++end < message.length && message[end] !== '"') if (message[end] === '\\') end++ }
      if (char === '{') depth++
      if (char !== '}' || --depth > 0) continue
      const text = message.slice(at, end + 1)
      if (parseObject(text)) return { text, end: end + 1 }
      break
    }
    unclosed.add('{')
    return undefined
  }

  return (at) => {
    const open = message[at]
    if (open === '`') return code(at)
    if (unclosed.has(open)) return undefined
    if (open === '{') return isBlank(message[at - 1]) ? object(at) : undefined
    // An apostrophe inside a word opens no quotation.
    return Object.hasOwn(CLOSERS, open) && !isWord(message[at - 1]) ? quotation(at) : undefined
  }
}

/** Parses a text as a JSON object; undefined when it is not valid JSON or no object. */
export function parseObject (text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
