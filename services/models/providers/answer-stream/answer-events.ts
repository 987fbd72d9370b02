import { createEventStreamParser, EventTooLarge, type ServerEvent } from '../../../lib/event-stream.ts'
import { LONGEST_ANSWER, tooLarge, unreadable } from '../bounded-fetch.ts'
import { parseSafely } from '../safe-json.ts'
import { isObject } from '../../../lib/json.ts'

/** The content of one event of an answer. */
export type AnswerEvent =
  | { type: 'value', value: Record<string, any>, event?: string }
  /** `[DONE]`: the server says that the answer is complete. */
  | { type: 'done' }
  /** The whole answer as one document, although a stream was asked for. */
  | { type: 'document', value: Record<string, any> }

interface AnswerEvents {
  /**
   * Yields the events that the next bytes complete; the bytes can be cut anywhere. At a fault, yields the events before it and throws
   * UnusableAnswer.
   */
  take(bytes: Uint8Array): Iterable<AnswerEvent>
  /** Returns the events that the end of the answer completes. Throws UnusableAnswer. */
  end(): AnswerEvent[]
}

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d])
const BOM = [0xef, 0xbb, 0xbf]
const DOCUMENT = new Set([0x7b, 0x5b]) // { and [
const DONE = /^\[?done\]?$/i
const LONGEST_DONE = 6
const SSE_LINE = /^(?:data|event|id|retry)?:/
const SHOWN = 200

/**
 * Returns the parser of an answer's body, which can be Server-Sent Events (also with missing blank lines between events or at the end), a
 * single JSON document, or JSON lines. `parseValue` parses the JSON of an event.
 */
export function createAnswerEvents (parseValue: Parse = parseSafely): AnswerEvents {
  const parse = createEventStreamParser(LONGEST_ANSWER)
  let isDocument: boolean | undefined
  let document: Uint8Array[] = []
  let documentBytes = 0
  let hasEvents = false
  /** The beginning of a text that is not an event stream at all. */
  let beginning = Buffer.alloc(0)

  function takeDocument (bytes: Uint8Array): AnswerEvent[] {
    documentBytes += bytes.length
    if (documentBytes > LONGEST_ANSWER) throw tooLarge()
    document.push(bytes)
    return []
  }

  function * read (events: ServerEvent[]): Generator<AnswerEvent> {
    for (const { data, event } of events) {
      if (data === undefined) continue
      const found = eventsIn(data, event, parseValue)
      hasEvents ||= found.length > 0
      for (const each of found) yield each
    }
  }

  function parsed (bytes: Uint8Array): ServerEvent[] {
    try {
      return parse(bytes)
    } catch (error) {
      throw error instanceof EventTooLarge ? tooLarge() : error
    }
  }

  /** Returns the last event, which has no blank line behind it, if it arrived whole. */
  function lastEvents (): AnswerEvent[] {
    try {
      return [...read(parsed(Buffer.from('\n\n')))]
    } catch {
      return []
    }
  }

  return {
    take (bytes) {
      if (isDocument === undefined) {
        const first = bytes.find((byte) => !SPACE.has(byte) && !BOM.includes(byte))
        if (first !== undefined) isDocument = DOCUMENT.has(first)
      }
      if (isDocument) return takeDocument(bytes)
      if (!hasEvents && beginning.length < SHOWN) beginning = Buffer.concat([beginning, bytes.subarray(0, SHOWN)])
      return read(parsed(bytes))
    },

    end () {
      if (isDocument) {
        const text = Buffer.concat(document).toString()
        document = []
        return readDocument(text)
      }
      const last = lastEvents()
      const words = beginning.toString().trim()
      if (!hasEvents && words !== '' && !SSE_LINE.test(words)) throw unreadable()
      return last
    }
  }
}

/** Parses a text as JSON; undefined if the text is not JSON. Throws UnusableAnswer if the value would change a prototype. */
function valueIn (text: string, parse: Parse = parseSafely): { value: unknown } | undefined {
  try {
    return { value: parse(text) }
  } catch (error) {
    if ((error as Error).message === 'prototype') throw unreadable()
    return undefined
  }
}

type Parse = (text: string) => unknown

const objectsIn = (value: unknown): Array<Record<string, any>> => (Array.isArray(value) ? value : [value]).filter(isObject)

function eventsIn (data: string, event?: string, parse?: Parse): AnswerEvent[] {
  const text = data.trim()
  if (text === '') return []
  if (text.length <= LONGEST_DONE && DONE.test(text)) return [{ type: 'done' }]
  const whole = valueIn(text, parse)
  if (isObject(whole?.value)) return [{ type: 'value', value: whole.value, event }]
  if (whole !== undefined) {
    // A JSON string is read like a text without quotes.
    const values = event === 'error' && typeof whole.value === 'string' ? [{ error: whole.value }] : objectsIn(whole.value)
    return values.map((value) => ({ type: 'value', value, event }))
  }
  const lines = text.split('\n')
  if (lines.length > 1) return lines.flatMap((line) => eventsIn(line, event, parse))
  if (text.startsWith('{') || text.startsWith('[')) throw unreadable()
  return event === 'error' ? [{ type: 'value', value: { error: text }, event }] : []
}

function readDocument (text: string): AnswerEvent[] {
  const whole = valueIn(text.trim().replace(/^\ufeff/, ''))
  if (whole === undefined) return text.split('\n').flatMap((line) => eventsIn(line))
  // Google sends the chunks of an answer as a list if no events are requested.
  if (Array.isArray(whole.value)) return [...objectsIn(whole.value).map((value) => ({ type: 'value' as const, value })), { type: 'done' }]
  return objectsIn(whole.value).map((value) => ({ type: 'document', value }))
}
