import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { Clock } from '../../lib/clock.ts'
import { LONGEST_ERROR, refusalOf } from '../bounded-fetch.ts'
import { streamOf, type BatchedResult } from '../part-batches.ts'
import { createConnections } from './connections.ts'
import { readBatches } from './response-batches.ts'

/** Creates the SDK's model, which sends its requests with the given function. */
type MakeModel = (fetch: typeof globalThis.fetch) => LanguageModelV4

/** Ends the SDK's part of a call whose answer has begun: what follows is read without it. */
class AnswerBegun extends Error {}

/**
 * Creates the function that makes streaming calls, over connections that are kept. The SDK shapes the request and maps the errors;
 * the answer's event stream is read without the SDK's web streams, which take more CPU time than all else. The function rejects as
 * the SDK's `doStream` does.
 */
export function createStreamCalls (clock: Pick<Clock, 'now'>) {
  const { post } = createConnections(clock)

  return async (makeModel: MakeModel, options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult | BatchedResult> => {
    const signal = options.abortSignal
    let answer: IncomingMessage | undefined
    const model = makeModel(async (url, init) => {
      // The SDK passes its headers as an object and its body as text.
      const { headers, body } = init as { headers: Record<string, string>, body: string }
      const response = await post({ url: String(url), headers, body, signal })
      const refusal = refusalOf(response.statusCode!, (name) => response.headers[name], 'events')
      if (refusal !== undefined) {
        response.destroy()
        throw refusal
      }
      if (!isSuccess(response)) return toResponse(response)
      answer = response
      throw new AnswerBegun()
    })
    try {
      return await model.doStream(options)
    } catch (error) {
      if (answer === undefined) throw error
    }
    const headers = flatHeaders(answer)
    const batches = readBatches(decoded(answer), signal)
    return {
      batches,
      get stream () {
        return streamOf(batches)
      },
      response: { headers }
    }
  }
}

const isSuccess = ({ statusCode }: IncomingMessage) => statusCode! >= 200 && statusCode! < 300

const flatHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** Returns the answer's body without its encoding. None is asked for, but servers exist that encode every answer. */
function decoded (answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return answer
  return pipeline(answer, encoding === 'br' ? createBrotliDecompress() : createUnzip(), () => {})
}

/** Reads the beginning of an error answer, for the SDK. */
async function toResponse (answer: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = []
  let left = LONGEST_ERROR
  for await (const chunk of decoded(answer)) {
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left <= 0) break
  }
  return new Response(Buffer.concat(chunks), { status: answer.statusCode!, statusText: answer.statusMessage, headers: flatHeaders(answer) })
}
