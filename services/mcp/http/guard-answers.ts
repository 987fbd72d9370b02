import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { appendPiece } from '../../lib/line-reader.ts'
import { failedAnswer, isAnswer, isTooComplex, LONGEST_MESSAGE, parseWithoutPrototypes, TOO_COMPLEX, TOO_LARGE } from '../message-limits.ts'

type Chunks = AsyncIterable<Buffer>

const CUT_OFF = 'The server ended its answer before it was complete.'

interface Parts {
  /** The request whose answer is expected; undefined for a stream of notifications. */
  id: RequestId | undefined
  /** Counts bytes that answer no request. */
  countUnsolicited: (bytes: number) => void
}

/**
 * Yields the events of a stream again, so that nothing in it can fill the memory: an answer beyond the limits becomes a failure of
 * its request, another event beyond them is dropped. A stream that ends without the answer fails the request, unless the server
 * named an event from which the stream can be resumed.
 */
export async function * guardEvents (chunks: Chunks, { id, countUnsolicited }: Parts): AsyncGenerator<Uint8Array> {
  let isAnswered = id === undefined
  let canResume = false
  const fail = (message: string) => {
    isAnswered = true
    return Buffer.from(formatEvent({ data: JSON.stringify(failedAnswer(id!, message)), bytes: 0 }))
  }
  try {
    for await (const event of readEvents(chunks, LONGEST_MESSAGE)) {
      canResume ||= event.id !== undefined && event.id !== ''
      const tooComplex = event.data !== undefined && isTooComplex(Buffer.from(event.data))
      const message = tooComplex ? undefined : messageIn(event)
      const isExpected = message !== undefined && isAnswer(message) && !isAnswered && message.id === id
      if (!isExpected) countUnsolicited(event.bytes)
      isAnswered ||= isExpected
      if (!tooComplex) yield Buffer.from(formatEvent(event))
      else if (!isAnswered) return yield fail(TOO_COMPLEX)
    }
  } catch (error) {
    if (error instanceof EventTooLong) {
      countUnsolicited(LONGEST_MESSAGE)
      if (!isAnswered) yield fail(TOO_LARGE)
      return
    }
    if (canResume || id === undefined) throw error
  }
  if (!isAnswered && !canResume) yield fail(CUT_OFF)
}

/** Returns the message of an event; removes keys from its data that could set a prototype. */
function messageIn (event: ServerEvent): JSONRPCMessage | undefined {
  if (event.data === undefined || event.data === '') return undefined
  try {
    const message = parseWithoutPrototypes(event.data)
    if (event.data.includes('__proto__')) event.data = JSON.stringify(message)
    return typeof message === 'object' && message !== null ? message as JSONRPCMessage : undefined
  } catch {
    return undefined
  }
}

/** Reads an answer of one JSON document; one beyond the limits becomes a failure of its request. Throws the stream's error. */
export async function readAnswer (chunks: Chunks, { id, countUnsolicited }: Parts): Promise<string> {
  const whole = await readAtMost(chunks, LONGEST_MESSAGE)
  const failure = whole.isCut ? TOO_LARGE : isTooComplex(whole.bytes) ? TOO_COMPLEX : undefined
  if (failure === undefined) {
    const text = whole.bytes.toString()
    return text.includes('__proto__') ? JSON.stringify(parseWithoutPrototypes(text)) : text
  }
  if (id === undefined) countUnsolicited(whole.bytes.length)
  return JSON.stringify(failedAnswer(id ?? 0, failure))
}

/** Reads a body up to `limit` bytes; the rest is not read. */
export async function readAtMost (chunks: Chunks, limit: number): Promise<{ bytes: Buffer, isCut: boolean }> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    parts = appendPiece(parts, chunk)
    size += chunk.length
    if (size > limit) break
  }
  return { bytes: Buffer.concat(parts).subarray(0, limit), isCut: size > limit }
}

const LF = 0x0a
const CR = 0x0d

/** An event of a stream of Server-Sent Events. */
interface ServerEvent {
  id?: string
  event?: string
  /** Milliseconds to wait before the stream is opened again, as the server wrote it. */
  retry?: string
  /** Absent when the event has no line of data. */
  data?: string
  /** Bytes that arrived for it. */
  bytes: number
}

/** An event, or a line, is longer than the limit. */
class EventTooLong extends Error {}

/**
 * Yields the events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream"), with
 * comments as events that are empty. An event that the end of the stream cuts off is dropped, as the standard says. Throws
 * EventTooLong as soon as `maxBytes` of an event have arrived, and the stream's error.
 */
async function * readEvents (chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<ServerEvent> {
  let event: ServerEvent = { bytes: 0 }
  for await (const line of readLines(chunks, () => maxBytes - event.bytes)) {
    event.bytes += Buffer.byteLength(line) + 1
    if (line !== '' && !line.startsWith(':')) {
      addField(event, line)
      continue
    }
    // A comment between the lines of an event does not end it.
    if (line !== '' && Object.keys(event).length > 1) continue
    yield event
    event = { bytes: 0 }
  }
}

function addField (event: ServerEvent, line: string) {
  const colon = line.indexOf(':')
  const name = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
  if (name === 'data') event.data = event.data === undefined ? value : `${event.data}\n${value}`
  else if (name === 'id' || name === 'event' || name === 'retry') event[name] = value
}

/** Yields lines, ended by LF, CR or both. Throws EventTooLong when a line is longer than `left()` bytes. */
async function * readLines (chunks: AsyncIterable<Buffer>, left: () => number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  let isAfterCR = false
  let isFirst = true
  for await (const chunk of chunks) {
    let start = isAfterCR && chunk[0] === LF ? 1 : 0
    isAfterCR = false
    const nextEnd = lineEnds(chunk)
    for (let end = nextEnd(start); end !== -1; end = nextEnd(start)) {
      parts.push(chunk.subarray(start, end))
      if (size + end - start > left()) throw new EventTooLong()
      const text = Buffer.concat(parts).toString()
      yield isFirst ? text.replace(/^\ufeff/, '') : text
      isFirst = false
      parts = []
      size = 0
      const isPair = chunk[end] === CR && chunk[end + 1] === LF
      isAfterCR = chunk[end] === CR && end === chunk.length - 1
      start = end + (isPair ? 2 : 1)
    }
    if (start >= chunk.length) continue
    parts = appendPiece(parts, chunk.subarray(start))
    size += chunk.length - start
    if (size > left()) throw new EventTooLong()
  }
}

/** Returns a function that finds the first LF or CR from an offset on, which must not decrease; -1 when there is none. */
function lineEnds (chunk: Buffer) {
  let lf = -2
  let cr = -2
  const next = (known: number, byte: number, from: number) => known === -1 || known >= from ? known : chunk.indexOf(byte, from)
  return (from: number): number => {
    lf = next(lf, LF, from)
    cr = next(cr, CR, from)
    return lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr)
  }
}

/** Writes an event as it stands in a stream. */
function formatEvent ({ id, event, retry, data }: ServerEvent): string {
  const fields = Object.entries({ id, event, retry }).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\n`])
  const lines = data === undefined ? [] : data.split('\n').map((line) => `data: ${line}\n`)
  return `${[...fields, ...lines].join('')}\n`
}
