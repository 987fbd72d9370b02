import { codingsIn } from '../../lib/line-reader.ts'

/** A provider's answer cannot be used because of its size, its type or a redirect. */
class UnusableAnswer extends Error {
  readonly code: 'ERR_ANSWER_TOO_LARGE' | 'ERR_ANSWER_FOREIGN' | 'ERR_ANSWER_ELSEWHERE' | 'ERR_ANSWER_UNREADABLE'
  constructor (code: UnusableAnswer['code'], message: string) {
    super(message)
    this.name = 'UnusableAnswer'
    this.code = code
  }
}

/** The most bytes of an answer that is read as a whole, and of one event of a stream. */
export const LONGEST_ANSWER = 8 * 1024 * 1024
/** The most bytes that are read of an error answer; the rest is discarded. */
export const LONGEST_ERROR = 64 * 1024

/** Returns the error for an answer that is too large. */
export const tooLarge = () => new UnusableAnswer('ERR_ANSWER_TOO_LARGE', `more than ${LONGEST_ANSWER / 1024 / 1024} MiB`)

/** Returns the error for an answer that is not JSON, or has none of the fields of an answer. */
export const unreadable = () => new UnusableAnswer('ERR_ANSWER_UNREADABLE', 'no JSON')

/** Returns the error for a document that is neither an answer nor an error. */
export const notAnAnswer = () => new UnusableAnswer('ERR_ANSWER_FOREIGN', 'one document instead of a stream')

/** How an answer arrives: as one JSON document, or as a stream of events. */
export type AnswerMode = 'answer' | 'events'

type Fetch = typeof globalThis.fetch

/**
 * Returns a `fetch` whose answers cannot fill the memory. In mode `answer` a body of more than 8 MiB fails with an
 * UnusableAnswer; in mode `events` a single event of more than 8 MiB does, because a stream has no limit as a whole.
 * Web pages and redirections are refused: they show that the provider's address is wrong.
 */
export function boundedFetch (mode: AnswerMode, fetch?: Fetch): Fetch {
  return async (url, init) => {
    // A compressed stream arrives in blocks.
    const coding = mode === 'events' ? 'identity' : 'gzip'
    const headers = { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': coding }
    const response = await (fetch ?? globalThis.fetch)(url, { ...init, headers, body: wellFormed(init?.body), redirect: 'manual' })
    const refusal = refusalOf(response.status, (name) => response.headers.get(name))
    if (refusal) {
      response.body?.cancel().catch(() => {})
      throw refusal
    }
    if (!response.body) return response
    const body = response.ok ? limitSize(response.body, mode) : truncate(response.body)
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }
}

const HALF_CHARACTER = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g

/**
 * Returns the JSON body of a request with each lone surrogate (in JSON, such as \ud83d) replaced by U+FFFD. A text that was cut can end
 * with a lone surrogate, and providers would refuse the whole call.
 */
export const wellFormed = <B>(body: B): B | string =>
  typeof body === 'string' && body.includes('\\ud') ? body.replace(HALF_CHARACTER, '\ufffd') : body

/**
 * Returns the content encoding if the service does not support it, otherwise undefined. Only gzip is supported, because every further
 * decoder is more code that strangers can reach.
 */
export function unreadableCoding (coding: string | null | undefined): string | undefined {
  return /^(?:(?:x-)?gzip)?$/.test(codingsIn(coding).join()) ? undefined : coding!.slice(0, 40)
}

/** Returns the error if an answer with this status and these headers is refused; undefined if the answer is accepted. */
export function refusalOf (
  status: number,
  header: (name: 'location' | 'content-type' | 'content-encoding') => string | null | undefined
): UnusableAnswer | undefined {
  if (status >= 300 && status < 400) {
    return new UnusableAnswer(
      'ERR_ANSWER_ELSEWHERE',
      `it answers ${status} and points to ${header('location')?.replace(/[?#].*/s, '') ?? 'nowhere'}`
    )
  }
  if (status < 200 || status >= 300) return undefined
  const coding = unreadableCoding(header('content-encoding'))
  if (coding !== undefined) return new UnusableAnswer('ERR_ANSWER_FOREIGN', `an answer compressed as "${coding}", which was not asked for`)
  const type = header('content-type') ?? ''
  if (/^text\/html\b/i.test(type)) return new UnusableAnswer('ERR_ANSWER_FOREIGN', 'a web page')
  return undefined
}

function limitSize (body: ReadableStream<Uint8Array>, mode: AnswerMode) {
  let bytes = 0
  let before: Uint8Array = new Uint8Array()
  return mapChunks(body, (chunk) => {
    const end = mode === 'events' ? endOfEvents(before, chunk) : -1
    before = Buffer.concat([before, chunk.subarray(-2)]).subarray(-2)
    bytes = end < 0 ? bytes + chunk.length : chunk.length - end
    if (bytes > LONGEST_ANSWER) throw tooLarge()
    return chunk
  })
}

function truncate (body: ReadableStream<Uint8Array>) {
  let left = LONGEST_ERROR
  return mapChunks(body, (chunk) => {
    if (left <= 0) return undefined
    const piece = chunk.subarray(0, left)
    left -= piece.length
    return piece
  })
}

/**
 * Returns the offset in a chunk at which its last complete event ends: a blank line, which can begin in `before`, the last
 * two bytes of the previous chunks. Returns -1 when no event ends in the chunk.
 */
function endOfEvents (before: Uint8Array, chunk: Uint8Array) {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const within = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
  if (within >= 0) return within
  return /\n\r?\n/.test(Buffer.concat([before, bytes.subarray(0, 2)]).toString('latin1')) ? 0 : -1
}

/** Passes each chunk through `take` when the reader asks for it; the body ends when `take` returns undefined. */
function mapChunks (body: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => Uint8Array | undefined) {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>({
    async pull (controller) {
      try {
        const { done, value } = await reader.read()
        const chunk = done ? undefined : take(value)
        if (chunk) return controller.enqueue(chunk)
        controller.close()
        if (!done) await reader.cancel()
      } catch (error) {
        controller.error(error)
        await reader.cancel(error).catch(() => {})
      }
    },
    cancel: (reason) => reader.cancel(reason)
  }, { highWaterMark: 0 })
}
