import type { Readable } from 'node:stream'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { PartBatches } from '../part-batches.ts'
import { giveSignOfLife } from './signs-of-life.ts'

export interface ReadParts {
  parts: LanguageModelV4StreamPart[]
  /** The reason why the stream cannot be read any further. The parts before it are valid. */
  failure?: unknown
}

/** Turns the bytes of an answer into parts. */
export interface PartReader {
  /** Parts that are sent before the first bytes. */
  first?: LanguageModelV4StreamPart[]
  /** Returns the parts that the next bytes complete; the bytes can be cut anywhere. */
  take(bytes: Uint8Array): ReadParts
  /** Returns the parts that follow a complete answer. */
  end?(): ReadParts
}

/**
 * Reads the body of an answer as batches of parts: a batch is what has arrived since the last read. While a batch waits to be
 * read, the body is paused. `signal` is the signal of the request, whose abort ends the body.
 */
export function readBatches (body: Readable, signal: AbortSignal | undefined, reader: PartReader): PartBatches {
  let arrived = [...reader.first ?? []]
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
    const { parts, failure } = reader.take(chunk)
    // Parts renew the timeout when they are read. Bytes without a part, such as SSE comment lines, are reported here.
    if (parts.length === 0) giveSignOfLife(signal)
    for (const part of parts) arrived.push(part)
    if (failure !== undefined) {
      end(failure)
      body.destroy()
    } else if (waiting === undefined) body.pause()
    else deliver()
  })
  body.on('end', () => {
    if (ending !== undefined) return
    const { parts, failure } = reader.end?.() ?? { parts: [] }
    for (const part of parts) arrived.push(part)
    end(failure)
  })
  const broken = (error: unknown) => end(signal?.aborted ? signal.reason : error)
  const closed = () => broken(Object.assign(new Error('terminated'), { code: 'ECONNRESET' }))
  body.on('error', broken)
  body.on('close', closed)
  if (body.destroyed) closed()

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
