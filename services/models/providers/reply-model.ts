import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage
} from '@ai-sdk/provider'
import type { Usage } from '../../../schemas/usage.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'

/** One answer of a model that is implemented in code. `createReplyModel` converts it to the SDK's format. */
export interface Reply {
  text?: string
  /** The thinking before the text. */
  reasoning?: string
  /** A call without an `id` gets a new one. */
  toolCalls?: Array<{ id?: string, toolName: string, input: unknown }>
  /** Makes the call fail: before its first part if there is no text, else after the text. */
  error?: string
  /** Milliseconds before the first part. */
  delayMs?: number
  /** Milliseconds before each further piece of text. */
  chunkMs?: number
  /** Why the answer ended, and its usage, if known; otherwise derived from the answer. */
  finishReason?: LanguageModelV4FinishReason['unified']
  usage?: Usage
}

class ScriptedFailure extends Error {
  override name = 'ScriptedFailure'
}

/**
 * Creates a language model from a function that maps a call to a reply. Text is streamed word by word, and only when the
 * reader asks for more. An abort rejects the call or fails the stream with the signal's reason.
 */
export function createReplyModel ({ modelId, clock, reply }: {
  modelId: string,
  clock: Clock,
  reply: (options: LanguageModelV4CallOptions) => Reply | Promise<Reply>
}): LanguageModelV4 {
  async function answer (options: LanguageModelV4CallOptions) {
    options.abortSignal?.throwIfAborted()
    const { text = '', reasoning = '', toolCalls = [], error, delayMs, chunkMs, ...told } = await reply(options)
    if (delayMs) await clock.sleep(delayMs, options.abortSignal)
    if (error !== undefined && text === '') throw new ScriptedFailure(error)
    // Two conversations can have identical texts, so a random part is needed to keep their call ids apart.
    const salt = newId().slice(-12)
    const calls = toolCalls.map(({ id, toolName, input }, index) => ({
      type: 'tool-call' as const,
      toolCallId: id ?? `call_${index + 1}_${salt}`,
      toolName,
      input: JSON.stringify(input ?? {})
    }))
    const asked = JSON.stringify(options.prompt, (_key, value) => value instanceof Uint8Array ? '' : value).length
    const unified = told.finishReason ?? (error !== undefined ? 'error' : calls.length > 0 ? 'tool-calls' : 'stop')
    const used = told.usage ? usageOf(told.usage) : estimated(asked, text.length + JSON.stringify(calls).length)
    const end = { usage: used, finishReason: { unified, raw: unified } }
    return { id: `${modelId}_${salt}`, text, reasoning, calls, error, chunkMs, end }
  }

  async function * parts (
    { id, text, reasoning, calls, error, chunkMs, end }: Awaited<ReturnType<typeof answer>>,
    signal?: AbortSignal
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'stream-start', warnings: [] }
    yield { type: 'response-metadata', id, modelId, timestamp: new Date(clock.now()) }
    if (reasoning !== '') {
      yield { type: 'reasoning-start', id: 'reasoning' }
      yield { type: 'reasoning-delta', id: 'reasoning', delta: reasoning }
      yield { type: 'reasoning-end', id: 'reasoning' }
    }
    if (text !== '') yield { type: 'text-start', id: 'text' }
    for (const { 0: delta, index } of text.matchAll(/\S+\s*|\s+/g)) {
      if (chunkMs && index > 0) await clock.sleep(chunkMs, signal)
      signal?.throwIfAborted()
      yield { type: 'text-delta', id: 'text', delta }
    }
    if (text !== '') yield { type: 'text-end', id: 'text' }
    for (const call of calls) {
      signal?.throwIfAborted()
      yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName }
      for (let at = 0; at < call.input.length; at += 4096) {
        yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input.slice(at, at + 4096) }
      }
      yield { type: 'tool-input-end', id: call.toolCallId }
      yield call
    }
    signal?.throwIfAborted()
    if (error !== undefined) yield { type: 'error', error: new ScriptedFailure(error) }
    yield { type: 'finish', ...end }
  }

  return {
    specificationVersion: 'v4',
    provider: 'offline',
    modelId,
    supportedUrls: {},
    async doStream (options) {
      return { stream: ReadableStream.from(parts(await answer(options), options.abortSignal)) as ReadableStream<LanguageModelV4StreamPart> }
    },
    async doGenerate (options) {
      const { id, text, calls, error, end } = await answer(options)
      if (error !== undefined) throw new ScriptedFailure(error)
      const content = [...text === '' ? [] : [{ type: 'text' as const, text }], ...calls]
      return { content, warnings: [], response: { id, modelId }, ...end }
    }
  }
}

const usageOf = ({ inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens }: Usage): LanguageModelV4Usage => ({
  inputTokens: { total: inputTokens, noCache: undefined, cacheRead: cachedInputTokens, cacheWrite: cacheWriteTokens },
  outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens }
})

/** Estimates the usage at four characters a token. */
function estimated (input: number, output: number): LanguageModelV4Usage {
  const [inputTokens, outputTokens] = [Math.ceil(input / 4), Math.ceil(output / 4)]
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: undefined }
  }
}
