import type { Client, RequestOptions } from './generated/client/index.ts'
import { notTheService, streamCut } from './errors.ts'

type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** One Server-Sent Event. An event without `data` only gives the position in the stream: its `id` is the one to resume after. */
export interface ServerSentEvent {
  id?: string
  event?: string
  data?: string
}

/** The service writes at least every 4 s. After this silence, in milliseconds, the connection counts as lost. */
const SILENCE_MS = 60_000

/**
 * Sends one request, without repeating it, and returns the body of the response as a stream; undefined for 204. Throws AgentError if the
 * service refuses the request or the response is no stream, and the signal's reason after an abort.
 */
export async function openStream (client: Client, options: RequestOptions & { method: 'GET' | 'POST' }): Promise<Body | undefined> {
  options.signal?.throwIfAborted()
  const { error, data, response } = await client.request<unknown, unknown, false, 'fields'>({
    ...options,
    security: [{ scheme: 'bearer', type: 'http' }],
    parseAs: 'stream',
    throwOnError: false,
    responseStyle: 'fields'
  })
  if (error !== undefined) throw error
  if (response?.status === 204) return undefined
  if (!response?.headers.get('content-type')?.startsWith('text/event-stream')) {
    await (data as Body | null)?.cancel()
    throw notTheService(client.getConfig().baseUrl ?? '', response!)
  }
  return data as Body
}

/**
 * Yields the events of a stream until it ends, and closes the connection when the reader stops. Reads only as fast as its reader, so that a
 * slow reader slows down the service. Throws ERR_STREAM_CUT if the stream breaks off or is silent for a minute, and the signal's reason
 * after an abort.
 * Implements https://html.spec.whatwg.org/multipage/server-sent-events.html for lines that end with a line feed.
 */
export async function * readEvents (body: Body, signal?: AbortSignal | null): AsyncGenerator<ServerSentEvent> {
  // No `for await`, because in some web views streams are not async iterable.
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', cancel)
  /** The pieces of a line that goes on. Joining them with each new piece would copy a long line again and again. */
  let pieces: string[] = []
  let fields: ServerSentEvent = {}
  try {
    while (true) {
      const { done, value } = await withinSilence(reader).catch((cause) => {
        signal?.throwIfAborted()
        throw streamCut(cause)
      })
      signal?.throwIfAborted()
      if (done) return
      pieces.push(value)
      if (!value.includes('\n')) continue
      const lines = pieces.join('').split('\n')
      pieces = [lines.pop()!]
      for (const line of lines) {
        if (line !== '') {
          read(line, fields)
          continue
        }
        if (fields.data !== undefined || fields.id !== undefined) yield fields
        fields = {}
      }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Yields the parsed JSON of each event, with the event's id; see `readEvents`. */
export async function * readJson<T> (body: Body, signal?: AbortSignal | null): AsyncGenerator<{ id?: string, event: T }> {
  for await (const { id, data } of readEvents(body, signal)) if (data !== undefined) yield { id, event: parse<T>(data) }
}

/** Parses the JSON of an event. Throws ERR_STREAM_CUT if the text is not valid JSON. */
export function parse<T> (data: string): T {
  try {
    return JSON.parse(data) as T
  } catch (cause) {
    throw streamCut(cause)
  }
}

function read (line: string, fields: ServerSentEvent) {
  const [, name, value] = /^(id|event|data): ?(.*)$/s.exec(line) ?? []
  if (name === 'data') fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`
  else if (name === 'id' || name === 'event') fields[name] = value
}

async function withinSilence (reader: ReadableStreamDefaultReader<string>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silent = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('The service was silent for a minute.')), SILENCE_MS)
  })
  try {
    return await Promise.race([reader.read(), silent])
  } finally {
    clearTimeout(timer)
  }
}
