import { jsonrepair } from 'jsonrepair'
import { isObject, readJson } from './json.ts'

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

/** Braces of a text at which an object is looked for. */
const MOST_PLACES = 50

/** Returns the objects of JSON, or nearly so, that stand whole in a text, in their order. */
export function objectsIn (text: string): Array<Record<string, unknown>> {
  const objects: Array<Record<string, unknown>> = []
  let at = text.indexOf('{')
  for (let places = 0; at !== -1 && places < MOST_PLACES; places++) {
    const found = findJsonEnd(text, at)
    const whole = 'end' in found ? text.slice(at, found.end) : ''
    const value = readJson(whole) ?? readNearlyJson(whole)?.value
    if (isObject(value)) objects.push(value)
    at = text.indexOf('{', isObject(value) ? at + whole.length : at + 1)
  }
  return objects
}
