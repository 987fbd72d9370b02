/** Sources of patterns: the words before a tool's name, and the words between its name and its input. */
export const USE = '(?:use|call|invoke)\\s+(?:the\\s+)?(?:tool\\s+)?'
export const WITH = '(?:\\s+tool)?(?:\\s+(?:with|on|using))?(?:\\s+(?:the\\s+)?(?:input|arguments?|args|parameters|json))?\\s*:?\\s*'
const BEFORE_INPUT = new RegExp(`(?:^|[\\s,;.(])${USE}\\S{1,70}${WITH}$`, 'i')
/** Characters before an input in which the tool's name is searched. */
const LONGEST_LEAD = 200

/** Returns the JSON object that begins at `at`, and its end, when the text before it names a tool to use; otherwise undefined. */
export function inputObject (message: string, at: number): { end: number, text: string } | undefined {
  if (message[at] !== '{' || !BEFORE_INPUT.test(message.slice(Math.max(0, at - LONGEST_LEAD), at))) return undefined
  let depth = 0
  for (let end = at; end < message.length; end++) {
    const char = message[end]
    if (char === '"') { while (++end < message.length && message[end] !== '"') if (message[end] === '\\') end++ }
    if (char === '{') depth++
    if (char === '}' && --depth === 0) {
      const text = message.slice(at, end + 1)
      return parsed(text) && { end: end + 1, text }
    }
  }
  return undefined
}

/** Parses a text as a JSON object; undefined when it is not valid JSON or no object. */
export function parsed (text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
