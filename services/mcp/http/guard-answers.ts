import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { createEventStreamParser, EventTooLarge, type ServerEvent } from '../../lib/event-stream.ts'
import { readAtMost } from '../../lib/line-reader.ts'
import {
  adoptAnswer,
  answerUnread,
  failedAnswer,
  isAnswer,
  type PendingRequest,
  quoteOf,
  readMessages,
  readWithoutPrototypes
} from '../envelope.ts'
import { isTooComplex, LONGEST_MESSAGE, TOO_COMPLEX, TOO_LARGE } from '../message-limits.ts'

type Chunks = AsyncIterable<Buffer>

const CUT_OFF = 'The server ended its answer before it was complete.'
const noMessage = (text: string) => `The server answered with something else than a message: ${quoteOf(text)}`

interface Parts {
  /** The request whose answer is expected; undefined for a stream of notifications. */
  request: PendingRequest | undefined
  /** Counts the bytes of messages that answer no request. */
  countUnsolicited: (bytes: number) => void
}

/**
 * Yields the events of a stream in the form that the SDK accepts, with bounded memory. If the answer exceeds a limit, a replacement is
 * yielded, and any other event beyond the limits is dropped. If the stream ends without the answer, an error answer is yielded, unless the
 * server named an event from which the stream can be resumed.
 */
export async function * guardEvents (chunks: Chunks, { request, countUnsolicited }: Parts): AsyncGenerator<Uint8Array> {
  const parse = createEventStreamParser(LONGEST_MESSAGE)
  let isAnswered = request === undefined
  let canResume = false
  let failure = CUT_OFF
  const settle = (answer: JSONRPCMessage) => {
    isAnswered = true
    return Buffer.from(formatEvent({ data: JSON.stringify(answer), bytes: 0 }))
  }
  try {
    for await (const chunk of chunks) {
      for (const event of parse(chunk)) {
        canResume ||= event.id !== undefined && event.id !== ''
        const { data, bytes, ...about } = event
        if (data !== undefined && isTooComplex(Buffer.from(data))) {
          countUnsolicited(bytes)
          if (!isAnswered) return yield settle(answerUnread(request!, { head: data, why: TOO_COMPLEX }))
          continue
        }
        const messages = data === undefined || data === '' ? [] : ofRequest(readMessages(readWithoutPrototypes(data)), request)
        const hasAnswer = !isAnswered && messages.some((message) => isAnswer(message) && message.id === request!.id)
        if (!hasAnswer) countUnsolicited(bytes)
        isAnswered ||= hasAnswer
        if (messages.length === 0 && data) failure = noMessage(data)
        if (messages.length === 0) yield Buffer.from(formatEvent({ ...about, ...data !== undefined && { data: '' }, bytes }))
        for (const message of messages) yield Buffer.from(formatEvent({ ...about, event: undefined, data: JSON.stringify(message), bytes }))
      }
    }
  } catch (error) {
    if (error instanceof EventTooLarge) {
      countUnsolicited(LONGEST_MESSAGE)
      if (!isAnswered) yield settle(answerUnread(request!, { head: error.head, why: TOO_LARGE }))
      return
    }
    if (canResume || request === undefined) throw error
  }
  if (!isAnswered && !canResume) yield settle(failedAnswer(request!.id, failure))
}

/** Gives an answer without a known id the id of the request whose HTTP response contains the answer. */
function ofRequest (messages: JSONRPCMessage[], request: PendingRequest | undefined): JSONRPCMessage[] {
  if (request === undefined || messages.some((message) => isAnswer(message) && message.id === request.id)) return messages
  return messages.map((message) => isAnswer(message) && typeof message.id !== 'number' ? adoptAnswer(message, request.id) : message)
}

/**
 * Reads a response that is not an event stream as a JSON document, and returns the document's messages as JSON. A document beyond the
 * limits is replaced by an answer that says so. A document without a message becomes an error answer with the text of the document. Returns
 * undefined for an empty document, or without a request. Throws the stream's error.
 */
export async function readAnswer (chunks: Chunks, { request, countUnsolicited }: Parts): Promise<string | undefined> {
  const { bytes, isCut } = await readAtMost(chunks, LONGEST_MESSAGE)
  const why = isCut ? TOO_LARGE : isTooComplex(bytes) ? TOO_COMPLEX : undefined
  if (request === undefined) {
    countUnsolicited(bytes.length)
    return undefined
  }
  const text = bytes.toString()
  if (why !== undefined) return JSON.stringify(answerUnread(request, { head: text.slice(0, LONGEST_HEAD), why }))
  if (text.trim() === '') return undefined
  const texts = LIKE_EVENTS.test(text) ? createEventStreamParser(Infinity)(Buffer.from(`${text}\n\n`)).map(({ data = '' }) => data) : [text]
  const messages = ofRequest(texts.flatMap((each) => readMessages(readWithoutPrototypes(each))), request)
  if (messages.length > 0) return JSON.stringify(messages)
  return JSON.stringify(failedAnswer(request.id, noMessage(text.trim())))
}
const LONGEST_HEAD = 64 * 1024
/** Matches the beginning of an event stream whose content type is another one. */
const LIKE_EVENTS = /^\s*(?:event|data|id|retry)?:/

/** Returns the text of an event in the format of an SSE stream. */
function formatEvent ({ id, event, retry, data }: ServerEvent): string {
  const fields = Object.entries({ id, event, retry }).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\n`])
  const lines = data === undefined ? [] : data.split('\n').map((line) => `data: ${line}\n`)
  return `${[...fields, ...lines].join('')}\n`
}
