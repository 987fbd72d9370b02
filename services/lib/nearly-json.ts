import { jsonrepair } from 'jsonrepair'

/**
 * Returns the value of a text that is nearly JSON: with a comma too many, quotes of another language, comments or a fence around it.
 * Undefined for what may have been cut off, or could mean something else. A text of JSON in JSON counts as the inner one.
 */
export function readNearlyJson (text: string): { value: unknown } | undefined {
  const bare = text.trim().replace(/^```(?:json)?\s*|\s*```$/g, '')
  if (!isWhole(bare)) return undefined
  try {
    return { value: JSON.parse(jsonrepair(bare)) }
  } catch {
    return undefined
  }
}

/** Whether every bracket and quote of the text has its end, and each text in it stands where JSON has one. */
function isWhole (text: string): boolean {
  const open: string[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || character === "'") {
      const end = endOfText(text, at)
      if (end === undefined || !/^\s*(?:[,:}\]/]|$)/.test(text.slice(end + 1, end + 200))) return false
      at = end
    } else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return false
    } else if (open.length === 0 && /\S/.test(character)) return false
  }
  return open.length === 0 && text !== ''
}

function endOfText (text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[from]) return at
  }
  return undefined
}

/**
 * Finds the end of the object or list that begins at `from`: the index behind its last bracket, or the brackets that it lacks. Inside a
 * text, nothing is known to be lacking but its end.
 */
export function findJsonEnd (text: string, from: number): { end: number } | { lacks: string } | { isInText: true } {
  const open: string[] = []
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || (character === "'" && /[{[,:(]\s*$/.test(text.slice(Math.max(from, at - 8), at)))) {
      const end = endOfText(text, at)
      if (end === undefined) return { isInText: true }
      at = end
    } else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']')
    else if (character === '}' || character === ']') {
      open.pop()
      if (open.length === 0) return { end: at + 1 }
    }
  }
  return { lacks: open.reverse().join('') }
}
