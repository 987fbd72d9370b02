import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AnswerEvent, createAnswerEvents } from '../answer-stream/answer-events.ts'
import { giveSignOfLife } from '../answer-stream/signs-of-life.ts'
import { type AnswerMode, boundedFetch, unreadable } from '../bounded-fetch.ts'

export type Fields = Record<string, any>

/** Converts the events of one answer to events that the SDK's parser accepts. Throws a ProviderError if an event is an error. */
export interface StreamReader {
  take(value: Fields, event?: string): Fields[]
  /** Takes a whole answer that came in place of a stream. */
  takeDocument(value: Fields): Fields[]
  /** `isDone`: the server has said that the answer is complete. */
  end(isDone: boolean): Fields[]
}

/** Converts the answers of an API to the form that the SDK's strict parser accepts. Servers send many variants of this form. */
export interface AnswerForm {
  /** Absent if the service itself reads the streams. */
  createStream?(): StreamReader
  /** Returns a whole answer in the form that the SDK accepts. Throws a ProviderError if the value is an error. */
  readWhole(value: Fields): Fields
  /** Joins the events of a stream into one answer, for a server that streams although no stream was requested. */
  join?(values: Fields[]): Fields
}

type Fetch = typeof globalThis.fetch

/** Returns a `boundedFetch` that converts answers to the form that the SDK accepts. Error answers pass unchanged. */
export function lenientFetch (form: AnswerForm, mode: AnswerMode, fetch?: Fetch): Fetch {
  const bounded = boundedFetch(mode, fetch)
  return async (url, init) => {
    const response = await bounded(url, init)
    if (!response.ok || response.body === null) return response
    const { status, statusText } = response
    const headers = new Headers(response.headers)
    // These headers describe the answer as it was sent.
    for (const name of ['content-length', 'content-encoding', 'content-type']) headers.delete(name)
    if (mode === 'answer') return Response.json(await readDocument(form, response.body), { status, statusText, headers })
    const reader = form.createStream?.()
    if (reader === undefined) return response
    headers.set('content-type', 'text/event-stream')
    return new Response(ReadableStream.from(rewritten(reader, response.body, init?.signal)), { status, statusText, headers })
  }
}

async function readDocument (form: AnswerForm, body: AsyncIterable<Uint8Array>): Promise<Fields> {
  const events = createAnswerEvents()
  const found: AnswerEvent[] = []
  for await (const bytes of body) found.push(...events.take(bytes))
  found.push(...events.end())
  const values = found.flatMap((event) => event.type === 'done' ? [] : [event.value])
  const [document] = values
  if (document === undefined) throw unreadable()
  return form.readWhole(found[0].type === 'document' || form.join === undefined ? document : form.join(values))
}

/** Yields the events of an answer in the form that the SDK accepts. */
async function * rewritten (
  reader: StreamReader,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | null | undefined
): AsyncGenerator<Uint8Array> {
  const events = createAnswerEvents()
  let isDone = false
  const read = (event: AnswerEvent): Fields[] => {
    isDone ||= event.type !== 'value'
    if (event.type === 'done') return []
    return event.type === 'document' ? reader.takeDocument(event.value) : reader.take(event.value, event.event)
  }
  const written = (values: Fields[]) => Buffer.from(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(''))

  for await (const bytes of body) {
    giveSignOfLife(signal)
    const values: Fields[] = []
    let failure: { error: unknown } | undefined
    try {
      for (const event of events.take(bytes)) values.push(...read(event))
    } catch (error) {
      failure = { error }
    }
    if (values.length > 0) yield written(values)
    if (failure !== undefined) {
      // A web stream drops its buffered data when it fails, so the SDK's reader gets the earlier data first.
      await nextTurn()
      throw failure.error
    }
  }
  const last = [...events.end().flatMap(read), ...reader.end(isDone)]
  if (last.length > 0) yield written(last)
}
