import { Buffer } from 'node:buffer'
import { appendPiece } from './line-reader.ts'

const LF = 0x0a
const CR = 0x0d
const BOM = '\ufeff'

/**
 * A keep-alive comment line is sent after this much silence, in milliseconds: many clients in Python have a read timeout of five seconds.
 */
export const PING_MS = 4_000

/** Thrown if an event exceeds the limit. `head` is the beginning of the event. */
export class EventTooLarge extends Error {
  readonly head: string
  constructor (head: string) {
    super('An event of a stream is too large.')
    this.head = head
  }
}

const HEAD_BYTES = 64 * 1024

/** One event of a stream of Server-Sent Events. */
export interface ServerEvent {
  id?: string
  event?: string
  /** The time to wait before the stream is opened again, in milliseconds, as the server wrote it. */
  retry?: string
  /** Absent when the event has no line of data. */
  data?: string
  /** The number of bytes of the stream that belong to the event. */
  bytes: number
}

/**
 * Parses a stream of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream"). The
 * returned function takes the next piece of the stream, cut anywhere, and returns the events that the piece completes. A comment between
 * two events is returned as an event without fields. An event that the end of the stream cuts off is dropped, as the standard says. Throws
 * EventTooLarge as soon as `maxBytes` have arrived since the last event.
 */
export function createEventStreamParser (maxBytes: number): (chunk: Uint8Array) => ServerEvent[] {
  /** The bytes of the unfinished line. */
  let pending: Buffer[] = []
  let pendingBytes = 0
  /** The unfinished event, with the bytes of its complete lines. */
  let event = emptyEvent()
  let hasFields = false
  let isFirstLine = true
  /** Whether the last line ended with CR, so that a following LF belongs to its end. */
  let isAfterCR = false
  /** Bytes of the lines that the last piece has completed. */
  let completeBytes = 0

  /** Returns the lines that are complete, each ended by LF; '' if there is none. */
  function completeLines (chunk: Buffer): string {
    const end = Math.max(chunk.lastIndexOf(LF), chunk.lastIndexOf(CR)) + 1
    if (end === 0) {
      pending = appendPiece(pending, chunk)
      pendingBytes += chunk.length
      return ''
    }
    completeBytes = pendingBytes + end
    // A line's end is never inside a character, so the text can be decoded up to it.
    let text = pending.length === 0 ? chunk.toString('utf8', 0, end) : Buffer.concat([...pending, chunk.subarray(0, end)]).toString()
    pendingBytes = chunk.length - end
    pending = pendingBytes > 0 ? [chunk.subarray(end)] : []
    if (isFirstLine && text.startsWith(BOM)) text = text.slice(1)
    isFirstLine = false
    if (isAfterCR && text.startsWith('\n')) text = text.slice(1)
    isAfterCR = chunk[end - 1] === CR
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  }

  return (bytesOfChunk) => {
    const found: ServerEvent[] = []
    const text = completeLines(Buffer.from(bytesOfChunk.buffer, bytesOfChunk.byteOffset, bytesOfChunk.byteLength))
    let from = 0
    for (let start = 0, end = text.indexOf('\n'); end !== -1; start = end + 1, end = text.indexOf('\n', start)) {
      const isComment = text[start] === ':'
      if (start < end && !isComment) {
        addField(event, text, start, end)
        hasFields = true
        continue
      }
      // A comment between the lines of an event does not end it.
      if (isComment && hasFields) continue
      // Most pieces are one event.
      event.bytes += from === 0 && end + 1 === text.length ? completeBytes : Buffer.byteLength(text.slice(from, end + 1))
      found.push(event)
      event = emptyEvent()
      hasFields = false
      from = end + 1
    }
    if (from < text.length) event.bytes += Buffer.byteLength(text.slice(from))
    if (event.bytes + pendingBytes > maxBytes) {
      throw new EventTooLarge(event.data?.slice(0, HEAD_BYTES) ?? Buffer.concat(pending).toString('utf8', 0, HEAD_BYTES))
    }
    return found
  }
}

// With a place for the data, the object does not change its shape. That is a third of the time of an event.
const emptyEvent = (): ServerEvent => ({ data: undefined, bytes: 0 })

/** Adds the line of a text that ends at `end` to an event. */
function addField (event: ServerEvent, text: string, start: number, end: number): void {
  const valueFrom = (colon: number) => text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
  // Nearly all lines of a streamed answer are data.
  if (text.startsWith('data:', start)) return addData(event, valueFrom(start + 'data'.length))
  const line = text.slice(start, end)
  const colon = line.indexOf(':')
  const name = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : valueFrom(start + colon)
  if (name === 'data') addData(event, value)
  else if (name === 'id' || name === 'event' || name === 'retry') event[name] = value
}

function addData (event: ServerEvent, value: string): void {
  event.data = event.data === undefined ? value : `${event.data}\n${value}`
}
