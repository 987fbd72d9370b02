/** An answer of a provider that is of no use, whatever it says. */
export class UnusableAnswer extends Error {
  readonly code: 'ERR_ANSWER_TOO_LARGE' | 'ERR_ANSWER_FOREIGN' | 'ERR_ANSWER_ELSEWHERE'
  constructor (code: UnusableAnswer['code'], message: string) {
    super(message)
    this.name = 'UnusableAnswer'
    this.code = code
  }
}

/** Bytes of an answer that is read whole, and of one event of a stream. */
const LONGEST_ANSWER = 8 * 1024 * 1024
/** Bytes read of an answer that is an error; what comes after is not looked at. */
const LONGEST_ERROR = 64 * 1024

type Fetch = typeof globalThis.fetch

/**
 * A `fetch` for providers whose answers cannot fill the memory: with `answer` a body ends in an UnusableAnswer beyond
 * 8 MiB, with `events` an event does (a stream has no end of its own). Web pages and redirections are refused, since a
 * provider's address that leads to one is a wrong address.
 */
export function boundedFetch (mode: 'answer' | 'events', fetch?: Fetch): Fetch {
  return async (url, init) => {
    const response = await (fetch ?? globalThis.fetch)(url, { ...init, redirect: 'manual' })
    const useless = uselessness(response, mode)
    if (useless) {
      response.body?.cancel().catch(() => {})
      throw useless
    }
    if (!response.body) return response
    const body = response.ok ? limited(response.body, mode) : beginning(response.body)
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }
}

function uselessness ({ status, ok, headers }: Response, mode: 'answer' | 'events'): UnusableAnswer | undefined {
  if (status >= 300 && status < 400) {
    return new UnusableAnswer(
      'ERR_ANSWER_ELSEWHERE',
      `it answers ${status} and points to ${headers.get('location')?.replace(/[?#].*/s, '') ?? 'nowhere'}`
    )
  }
  const type = headers.get('content-type') ?? ''
  if (ok && /^text\/html\b/i.test(type)) return new UnusableAnswer('ERR_ANSWER_FOREIGN', 'a web page')
  if (ok && mode === 'events' && /^application\/json\b/i.test(type)) {
    return new UnusableAnswer('ERR_ANSWER_FOREIGN', 'one document instead of a stream')
  }
  return undefined
}

function limited (body: ReadableStream<Uint8Array>, mode: 'answer' | 'events') {
  let taken = 0
  let before: Uint8Array = new Uint8Array()
  return passedOn(body, (chunk) => {
    const end = mode === 'events' ? endOfEvents(before, chunk) : -1
    before = Buffer.concat([before, chunk.subarray(-2)]).subarray(-2)
    taken = end < 0 ? taken + chunk.length : chunk.length - end
    if (taken > LONGEST_ANSWER) throw new UnusableAnswer('ERR_ANSWER_TOO_LARGE', `more than ${LONGEST_ANSWER / 1024 / 1024} MiB`)
    return chunk
  })
}

function beginning (body: ReadableStream<Uint8Array>) {
  let left = LONGEST_ERROR
  return passedOn(body, (chunk) => {
    if (left <= 0) return undefined
    const piece = chunk.subarray(0, left)
    left -= piece.length
    return piece
  })
}

/** Where in a chunk the last event ends that is complete by it (a blank line, which may have begun in what came before); -1 when none does. */
function endOfEvents (before: Uint8Array, chunk: Uint8Array) {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const within = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'))
  if (within >= 0) return within
  return /\n\r?\n/.test(Buffer.concat([before, bytes.subarray(0, 2)]).toString('latin1')) ? 0 : -1
}

/** A body chunk by chunk, as its reader asks for them; undefined ends it. */
function passedOn (body: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => Uint8Array | undefined) {
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
