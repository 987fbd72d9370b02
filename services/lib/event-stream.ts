import { Buffer } from 'node:buffer'

const LF = 0x0a
const CR = 0x0d
const BOM = '\ufeff'

export class EventTooLarge extends Error {}

/**
 * Parses a stream of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event
 * stream"). The returned function takes the next piece of the stream, cut anywhere, and returns the `data` of the events that it
 * completes; an event that the end of the stream cuts off is dropped, as the standard says. Throws EventTooLarge as soon as
 * `maxBytes` have arrived since the last event.
 */
export function createEventStreamParser (maxBytes: number): (chunk: Uint8Array) => string[] {
  /** The bytes of the unfinished line. */
  let pending: Uint8Array[] = []
  /** The data lines of the unfinished event. */
  let data: string | undefined
  /** Bytes since the last event. */
  let bytes = 0
  let isFirstLine = true
  /** Whether the last line ended with CR, so that a following LF belongs to its end. */
  let isAfterCR = false

  /** Returns the lines that are complete, each ended by LF; undefined if there is none. */
  function completeLines (chunk: Buffer): string | undefined {
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
    if (end === 0) {
      pending.push(chunk)
      return undefined
    }
    // A line's end is never inside a character, so the text can be decoded up to it.
    let text = pending.length === 0 ? chunk.toString('utf8', 0, end) : Buffer.concat([...pending, chunk.subarray(0, end)]).toString()
    pending = end < chunk.length ? [chunk.subarray(end)] : []
    if (isFirstLine && text.startsWith(BOM)) text = text.slice(1)
    isFirstLine = false
    if (isAfterCR && text.startsWith('\n')) text = text.slice(1)
    isAfterCR = chunk[end - 1] === CR
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  }

  return (bytesOfChunk) => {
    const chunk = Buffer.from(bytesOfChunk.buffer, bytesOfChunk.byteOffset, bytesOfChunk.byteLength)
    const found: string[] = []
    const text = completeLines(chunk) ?? ''
    let lastEvent = 0
    for (let start = 0, end = text.indexOf('\n'); end !== -1; start = end + 1, end = text.indexOf('\n', start)) {
      if (end === start) {
        if (data !== undefined) found.push(data)
        data = undefined
        lastEvent = end + 1
      } else if (text.startsWith('data', start)) {
        const value = dataOf(text, start, end)
        if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
      }
    }
    bytes = lastEvent === 0 ? bytes + chunk.length : Buffer.byteLength(text.slice(lastEvent)) + (pending[0]?.length ?? 0)
    if (bytes > maxBytes) throw new EventTooLarge()
    return found
  }
}

/** Returns the value of a line that begins with `data`; undefined if the line is another field. */
function dataOf (text: string, start: number, end: number): string | undefined {
  const colon = start + 4
  if (colon === end) return ''
  if (text[colon] !== ':') return undefined
  return text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
}
