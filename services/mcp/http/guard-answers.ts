import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { createEventStreamParser, EventTooLarge, type ServerEvent } from '../../lib/event-stream.ts'
import { readAtMost } from '../../lib/line-reader.ts'
import { failedAnswer, isAnswer, isTooComplex, LONGEST_MESSAGE, readWithoutPrototypes, TOO_COMPLEX, TOO_LARGE } from '../message-limits.ts'

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
  const parse = createEventStreamParser(LONGEST_MESSAGE)
  let isAnswered = id === undefined
  let canResume = false
  const fail = (message: string) => {
    isAnswered = true
    return Buffer.from(formatEvent({ data: JSON.stringify(failedAnswer(id!, message)), bytes: 0 }))
  }
  try {
    for await (const chunk of chunks) {
      for (const event of parse(chunk)) {
        canResume ||= event.id !== undefined && event.id !== ''
        const tooComplex = event.data !== undefined && isTooComplex(Buffer.from(event.data))
        const message = tooComplex ? undefined : messageIn(event)
        const isExpected = message !== undefined && isAnswer(message) && !isAnswered && message.id === id
        if (!isExpected) countUnsolicited(event.bytes)
        isAnswered ||= isExpected
        if (!tooComplex) yield Buffer.from(formatEvent(event))
        else if (!isAnswered) return yield fail(TOO_COMPLEX)
      }
    }
  } catch (error) {
    if (error instanceof EventTooLarge) {
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
  const message = readWithoutPrototypes(event.data)
  if (message !== undefined && event.data.includes('__proto__')) event.data = JSON.stringify(message)
  return typeof message === 'object' && message !== null ? message as JSONRPCMessage : undefined
}

/** Reads an answer of one JSON document; one beyond the limits becomes a failure of its request. Throws the stream's error. */
export async function readAnswer (chunks: Chunks, { id, countUnsolicited }: Parts): Promise<string> {
  const whole = await readAtMost(chunks, LONGEST_MESSAGE)
  const failure = whole.isCut ? TOO_LARGE : isTooComplex(whole.bytes) ? TOO_COMPLEX : undefined
  if (failure === undefined) {
    const text = whole.bytes.toString()
    const message = text.includes('__proto__') ? readWithoutPrototypes(text) : undefined
    return message === undefined ? text : JSON.stringify(message)
  }
  if (id === undefined) countUnsolicited(whole.bytes.length)
  return JSON.stringify(failedAnswer(id ?? 0, failure))
}

/** Writes an event as it stands in a stream. */
function formatEvent ({ id, event, retry, data }: ServerEvent): string {
  const fields = Object.entries({ id, event, retry }).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\n`])
  const lines = data === undefined ? [] : data.split('\n').map((line) => `data: ${line}\n`)
  return `${[...fields, ...lines].join('')}\n`
}
