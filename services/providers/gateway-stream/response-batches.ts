import type { Readable } from 'node:stream'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { PartBatches } from '../part-batches.ts'
import { createPartReader } from './read-parts.ts'

/**
 * Reads the body of an answer as batches of parts: a batch is what has arrived since the last read. While a batch waits to be
 * read, the body is paused. `signal` is the signal of the request, whose abort ends the body.
 */
export function readBatches (body: Readable, signal: AbortSignal | undefined): PartBatches {
  const take = createPartReader()
  let arrived: LanguageModelV4StreamPart[] = []
  let ending: { failure?: unknown } | undefined
  let waiting: PromiseWithResolvers<LanguageModelV4StreamPart[] | undefined> | undefined

  const deliver = () => {
    if (waiting === undefined || (arrived.length === 0 && ending === undefined)) return
    const { resolve, reject } = waiting
    waiting = undefined
    if (arrived.length > 0) resolve(arrived)
    else if (ending?.failure === undefined) resolve(undefined)
    else reject(ending.failure)
    arrived = []
  }
  const end = (failure?: unknown) => {
    ending ??= { failure }
    deliver()
  }

  body.on('data', (chunk: Uint8Array) => {
    if (ending !== undefined) return
    const { parts, failure } = take(chunk)
    for (const part of parts) arrived.push(part)
    if (failure !== undefined) {
      end(failure)
      body.destroy()
    } else if (waiting === undefined) body.pause()
    else deliver()
  })
  body.on('end', () => end())
  body.on('error', (error) => end(signal?.aborted ? signal.reason : error))
  body.on('close', () => end(Object.assign(new Error('terminated'), { code: 'ECONNRESET' })))

  return {
    read () {
      const batch = Promise.withResolvers<LanguageModelV4StreamPart[] | undefined>()
      waiting = batch
      deliver()
      if (waiting !== undefined && body.isPaused()) body.resume()
      return batch.promise
    },
    cancel (reason) {
      arrived = []
      end(reason)
      body.destroy()
    }
  }
}
