import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { Clock } from '../../../lib/clock.ts'
import { type BatchedResult, batchesOf, type PartBatches, streamOf } from '../part-batches.ts'
import type { ServedFile } from './model-pool.ts'

/** The fewest tokens of an answer from which its speed is measured well. */
const TOKENS_TIMED = 8

type Lease = ServedFile & { release: () => void }

interface Parts {
  provider: string
  name: string
  lease: () => Promise<Lease>
  clock: Clock
  /** Called with the speed of an answer, tokens a second. `isShort`: it was measured with few tokens. */
  onSpeed: (tokensPerSecond: number, isShort: boolean) => void
}

/** Returns the language model of a model file. Each call leases the file's server until the call has ended. */
export function createLeasedModel ({ provider, name, lease, clock, onSpeed }: Parts): LanguageModelV4 {
  return {
    ...{ specificationVersion: 'v4', provider, modelId: name, supportedUrls: {} },
    async doGenerate (options) {
      const { server, provider, release } = await lease()
      try {
        return await (await provider.languageModel(name)).doGenerate(options)
      } catch (error) {
        throw server.hasEnded() ? new EngineEnded(error) : error
      } finally {
        release()
      }
    },
    async doStream (options) {
      const { server, provider, release } = await lease()
      const fail = (error: unknown) => {
        release()
        throw server.hasEnded() ? new EngineEnded(error) : error
      }
      try {
        const answer = await (await provider.languageModel(name)).doStream(options)
        return watched(answer, { note: timeOf(clock, onSpeed), release, fail })
      } catch (error) {
        return fail(error)
      }
    }
  }
}

/** The server of a file ended during a call. The next call starts another one. */
class EngineEnded extends Error {
  readonly code = 'ECONNRESET'
  constructor (cause: unknown) {
    super('llama.cpp ended in the middle of the answer', { cause })
  }
}

/** Returns the answer, and calls `release` or `fail` once it has ended. */
function watched (
  answer: LanguageModelV4StreamResult,
  { note, release, fail }: { note: (parts: LanguageModelV4StreamPart[]) => void, release: () => void, fail: (error: unknown) => never }
): BatchedResult {
  const { read, cancel } = batchesOf(answer)
  const batches: PartBatches = {
    async read () {
      const parts = await read().catch(fail)
      if (parts === undefined) release()
      else note(parts)
      return parts
    },
    cancel (reason) {
      release()
      cancel(reason)
    }
  }
  return { ...answer, batches, stream: streamOf(batches) }
}

/**
 * Returns a function that takes the parts of an answer and reports its speed at the end, measured from the first part on and so without the
 * prompt.
 */
function timeOf (clock: Clock, onSpeed: Parts['onSpeed']): (parts: LanguageModelV4StreamPart[]) => void {
  let beganAt: number | undefined
  return (parts) => {
    for (const part of parts) {
      if ('delta' in part && part.delta !== '') beganAt ??= clock.monotonic()
      if (part.type !== 'finish' || beganAt === undefined) continue
      const [tokens, ms] = [(part.usage.outputTokens.total ?? 0) - 1, clock.monotonic() - beganAt]
      if (tokens > 0 && ms > 0) onSpeed(tokens / ms * 1_000, tokens < TOKENS_TIMED)
    }
  }
}
