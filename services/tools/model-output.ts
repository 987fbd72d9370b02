import type { ToolOutput } from '../contracts/tool.ts'

/** Bytes of JSON that the model gets of one output. */
const MODEL_BYTES = 64 * 1024
/** Characters to which strings are shortened before lists are shortened. */
const SHORTEST_STRING = 200

/**
 * Truncates a tool's output until its JSON fits in 64 KiB: first long strings are cut in the middle, then long lists at the end.
 * Returns the output itself when it fits; never mutates it.
 */
export function forModel (output: ToolOutput): ToolOutput {
  if (fits(output)) return output
  const strings = largestThatFits(SHORTEST_STRING, MODEL_BYTES, (chars) => shorten(output, chars, Infinity))
  if (strings !== undefined) return strings
  const lists = largestThatFits(0, MODEL_BYTES, (items) => shorten(output, SHORTEST_STRING, items))
  if (lists !== undefined) return lists
  // Only deep nesting remains: return the JSON as text. Escaping may double its length, and double it again in this JSON.
  return { truncated: true, json: cut(JSON.stringify(output), MODEL_BYTES / 8) }
}

function fits (output: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(output)) <= MODEL_BYTES
}

/** Returns the result for the largest limit that fits, by binary search; undefined when not even the smallest fits. */
function largestThatFits (smallest: number, most: number, attempt: (limit: number) => ToolOutput): ToolOutput | undefined {
  let best = attempt(smallest)
  if (!fits(best)) return undefined
  for (let low = smallest, high = most; high - low > 1;) {
    const middle = Math.floor((low + high) / 2)
    const result = attempt(middle)
    if (fits(result)) [best, low] = [result, middle]
    else high = middle
  }
  return best
}

function shorten<T> (value: T, chars: number, items: number): T
function shorten (value: unknown, chars: number, items: number): unknown {
  if (typeof value === 'string') return cut(value, chars)
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => shorten(item, chars, items))
    return kept.length < value.length ? [...kept, `[… ${value.length - kept.length} more left out …]`] : kept
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const kept = entries.slice(0, Math.max(items, 1)).map(([key, item]) => [cut(key, chars), shorten(item, chars, items)])
  if (kept.length < entries.length) kept.push(['…', `[… ${entries.length - kept.length} more left out …]`])
  return Object.fromEntries(kept)
}

/** Returns the head and the tail of a text with a marker between them. Surrogate pairs are not split. */
function cut (text: string, chars: number): string {
  if (text.length <= chars) return text
  let head = Math.ceil(chars / 2)
  let tail = text.length - Math.floor(chars / 2)
  if (isHigh(text, head - 1)) head -= 1
  if (isHigh(text, tail - 1)) tail += 1
  return `${text.slice(0, head)}\n[… ${tail - head} characters left out …]\n${text.slice(tail)}`
}

function isHigh (text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff
}
