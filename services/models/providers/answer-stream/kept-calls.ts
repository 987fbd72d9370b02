import type { LanguageModelV4StreamResult } from '@ai-sdk/provider'
import { codingsIn, readAtMost } from '../../../lib/line-reader.ts'
import { LONGEST_ANSWER, tooLarge, LONGEST_ERROR, refusalOf, unreadableCoding, wellFormed } from '../bounded-fetch.ts'
import { createPartReader } from '../lenient-answers/gateway-parts.ts'
import { type PartReader, readBatches } from './response-batches.ts'
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Clock } from '../../../lib/clock.ts'
import { streamOf, type BatchedResult } from '../part-batches.ts'
import { createConnections } from './connections.ts'

type Fetch = typeof globalThis.fetch

type Ask = (send: Fetch) => PromiseLike<LanguageModelV4StreamResult>

/** Returns the parser of an answer. `result` is the SDK's result for an empty answer. */
type ReaderAfter = (result: LanguageModelV4StreamResult) => Promise<PartReader>

/** The form in which the SDK passes a request. */
type Message = { method: string, headers: Record<string, string>, body?: string, signal?: AbortSignal }

export type KeptCalls = ReturnType<typeof createKeptCalls>

/** Creates the functions that call models over kept-alive connections. */
export function createKeptCalls (clock: Pick<Clock, 'now'>) {
  const { exchange, open, close } = createConnections(clock)
  let lastURL: string | undefined

  function exchangeOf (url: Parameters<Fetch>[0], init: RequestInit | undefined): Promise<IncomingMessage> {
    const { method, headers, body, signal } = init as Message
    lastURL = String(url)
    return exchange({ method, url: lastURL, headers, body: wellFormed(body), signal })
  }

  /** Sends a request of the SDK: the SDK passes headers as an object and the body as text. Throws UnusableAnswer. */
  async function send (url: Parameters<Fetch>[0], init: RequestInit | undefined): Promise<IncomingMessage> {
    const answer = await exchangeOf(url, init)
    const refusal = refusalOf(answer.statusCode!, (name) => answer.headers[name])
    if (refusal === undefined) return answer
    answer.destroy()
    throw refusal
  }

  return {
    /** Opens a connection for the next call. Without a `baseURL` that is one to the server of the last call. */
    connect (baseURL = lastURL) {
      if (baseURL !== undefined) open(baseURL)
    },
    close,

    /** A `fetch` for calls without streaming. Its answers have the limits of `boundedFetch`. */
    send: (async (url, init) => toResponse(await send(url, init), init?.signal)) as Fetch,

    /**
     * A `fetch` for streams that the SDK reads. Unlike Node's `fetch` it does not limit the time until an answer begins, or the pauses
     * within the answer.
     */
    sendForStream: (async (url, init) => {
      const answer = await exchangeOf(url, init)
      const { statusCode: status, statusMessage: statusText } = answer
      return new Response(ReadableStream.from(bytesOf(answer, init?.signal)), { status, statusText, headers: flatHeaders(answer) })
    }) as Fetch,

    /**
     * Makes a streaming call. `ask` calls the SDK's model with the given `fetch`: the SDK builds the request and maps the errors. The
     * service itself parses the event stream of the answer, because the SDK's web streams take more CPU time than everything else. With
     * `readerAfter`, the SDK gets an empty answer, and `readerAfter` gets the SDK's result. Rejects as the SDK's `doStream` does. `signal`
     * is the signal of the call.
     */
    async stream (
      ask: Ask,
      signal: AbortSignal | undefined,
      readerAfter?: ReaderAfter
    ): Promise<LanguageModelV4StreamResult | BatchedResult> {
      let answer: IncomingMessage | undefined
      const begun = Promise.withResolvers<undefined>()
      const asked = ask(async (url, init) => {
        const response = await send(url, init)
        if (!isSuccess(response)) return toResponse(response, init?.signal)
        // An error that comes before the answer is read must not be uncaught. The reader of the answer reports it.
        answer = response.on('error', () => {})
        if (readerAfter !== undefined) return new Response('', { headers: flatHeaders(response) })
        // The SDK's part of the call stays pending for ever. An error would make the SDK compose a message that nobody reads.
        begun.resolve(undefined)
        return new Promise(() => {})
      })
      try {
        const result = await Promise.race([asked, begun.promise])
        if (answer === undefined) return result!
        const reader = result && readerAfter ? await readerAfter(result) : createPartReader()
        const batches = readBatches(decoded(answer), signal, reader)
        return {
          request: result?.request,
          response: { headers: flatHeaders(answer) },
          batches,
          get stream () {
            return streamOf(batches)
          }
        }
      } catch (error) {
        answer?.destroy()
        throw error
      }
    }
  }
}

const isSuccess = ({ statusCode }: IncomingMessage) => statusCode! >= 200 && statusCode! < 300

const flatHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/**
 * Returns the decoded body of an answer. The service requests no content encoding, but some servers encode every answer. The body of an
 * error in an unsupported encoding is dropped; its status is enough.
 */
function decoded (answer: IncomingMessage): Readable {
  const coding = answer.headers['content-encoding']
  if (unreadableCoding(coding) !== undefined) return answer.destroy() && Readable.from([])
  return codingsIn(coding).length === 0 ? answer : pipeline(answer, createGunzip(), () => {})
}

/** Yields the answer's body. Rejects with the reason of the signal if the signal ended the body. */
async function * bytesOf (answer: IncomingMessage, signal: AbortSignal | null | undefined): AsyncGenerator<Buffer> {
  try {
    yield * decoded(answer)
  } catch (error) {
    throw signal?.aborted ? signal.reason : error
  }
}

/** Reads an answer for the SDK: as a whole, or the beginning of an error. Throws UnusableAnswer if it is too large. */
async function toResponse (answer: IncomingMessage, signal: AbortSignal | null | undefined): Promise<Response> {
  const { bytes, isCut } = await readAtMost(bytesOf(answer, signal), isSuccess(answer) ? LONGEST_ANSWER : LONGEST_ERROR)
  if (isCut && isSuccess(answer)) throw tooLarge()
  // A Response with one of these statuses must have no body.
  const body = answer.statusCode === 204 || answer.statusCode === 205 ? null : bytes
  return new Response(body, { status: answer.statusCode!, statusText: answer.statusMessage, headers: flatHeaders(answer) })
}
