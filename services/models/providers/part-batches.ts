import type { LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider'

/** The parts of a streamed answer, in the batches in which they arrive. */
export interface PartBatches {
  /** Resolves to the next parts, at least one; to undefined at the end of the answer. Rejects with the stream's failure. */
  read(): Promise<LanguageModelV4StreamPart[] | undefined>
  /** Ends the answer, at the provider too. A pending `read` rejects with the reason. */
  cancel(reason: unknown): void
}

/** A streamed answer that can be read in batches, which costs less than the single parts of `stream`. Only one of the two can be read. */
export interface BatchedResult extends LanguageModelV4StreamResult {
  batches: PartBatches
}

const isBatched = (result: LanguageModelV4StreamResult): result is BatchedResult => 'batches' in result

/** Returns the batches of an answer; batches of one part if the model streams single parts. */
export function batchesOf (result: LanguageModelV4StreamResult): PartBatches {
  if (isBatched(result)) return result.batches
  const reader = result.stream.getReader()
  return {
    async read () {
      const { done, value } = await reader.read()
      return done ? undefined : [value]
    },
    cancel (reason) {
      reader.cancel(reason).catch(() => {})
    }
  }
}

/** Returns a stream of the single parts in `batches`. */
export const streamOf = (batches: PartBatches): ReadableStream<LanguageModelV4StreamPart> =>
  new ReadableStream({
    async pull (controller) {
      const parts = await batches.read()
      if (parts === undefined) return controller.close()
      for (const part of parts) controller.enqueue(part)
    },
    cancel: batches.cancel
  }, { highWaterMark: 0 })

/** Returns the answer with a first part that lists the features that were left out of the request. */
export function withWarnings (
  result: LanguageModelV4StreamResult,
  features: ReadonlyArray<string | { feature: string, details: string }>
): LanguageModelV4StreamResult {
  if (features.length === 0) return result
  const { read, cancel } = batchesOf(result)
  const warnings = features.map((feature) => ({ type: 'unsupported' as const, ...typeof feature === 'string' ? { feature } : feature }))
  let isTold = false
  const batches: PartBatches = {
    async read () {
      if (isTold) return read()
      isTold = true
      return [{ type: 'stream-start', warnings }]
    },
    cancel
  }
  const batched: BatchedResult = { ...result, batches, stream: streamOf(batches) }
  return batched
}
