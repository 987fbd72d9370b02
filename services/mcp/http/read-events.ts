import { appendPiece } from '../../lib/line-reader.ts'

const LF = 0x0a
const CR = 0x0d

/** An event of a stream of Server-Sent Events. */
export interface ServerEvent {
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
export class EventTooLong extends Error {}

/**
 * Yields the events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an event stream"), with
 * comments as events that are empty. An event that the end of the stream cuts off is dropped, as the standard says. Throws
 * EventTooLong as soon as `maxBytes` of an event have arrived, and the stream's error.
 */
export async function * readEvents (chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<ServerEvent> {
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
export function formatEvent ({ id, event, retry, data }: ServerEvent): string {
  const fields = Object.entries({ id, event, retry }).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\n`])
  const lines = data === undefined ? [] : data.split('\n').map((line) => `data: ${line}\n`)
  return `${[...fields, ...lines].join('')}\n`
}
