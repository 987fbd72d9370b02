import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage
} from '@ai-sdk/provider'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import { callsMade } from './prompt.ts'

/** An offline model's answer to one call. `createReplyModel` converts it to the SDK's format. */
export interface Reply {
  text?: string
  toolCalls?: Array<{ toolName: string, input: unknown }>
  /** Fails the call: before its first part when there is no text, else after the text. */
  error?: string
  /** Milliseconds before the first part. */
  delayMs?: number
  /** Milliseconds before each further piece of text. */
  chunkMs?: number
}

/** The error of a scripted turn that has `error`. */
export class ScriptedFailure extends Error {
  override name = 'ScriptedFailure'
}

/**
 * Creates a language model from a function that maps a call to a reply. Text is streamed word by word, and only when the
 * reader asks for more. An abort rejects the call or fails the stream with the signal's reason.
 */
export function createReplyModel ({ modelId, clock, reply }: {
  modelId: string,
  clock: Clock,
  reply: (options: LanguageModelV4CallOptions) => Reply
}): LanguageModelV4 {
  async function answer (options: LanguageModelV4CallOptions) {
    options.abortSignal?.throwIfAborted()
    const result = reply(options)
    if (result.delayMs) await clock.sleep(result.delayMs, options.abortSignal)
    if (result.error !== undefined && !result.text) throw new ScriptedFailure(result.error)
    const promptText = JSON.stringify(options.prompt, (_key, value) => value instanceof Uint8Array ? '' : value)
    // Two conversations may have identical texts, so a random part is needed to keep their call ids apart.
    const salt = newId().slice(-12)
    const before = callsMade(options.prompt).length
    const toolCalls = (result.toolCalls ?? []).map(({ toolName, input }, index) => ({
      type: 'tool-call' as const,
      toolCallId: `call_${before + index + 1}_${salt}`,
      toolName,
      input: JSON.stringify(input ?? {})
    }))
    const length = (result.text?.length ?? 0) + toolCalls.reduce((sum, call) => sum + call.input.length, 0)
    const unified = result.error !== undefined ? 'error' : toolCalls.length > 0 ? 'tool-calls' : 'stop'
    return {
      ...result,
      toolCalls,
      id: `${modelId}_${salt}`,
      usage: usage(promptText.length, length),
      finishReason: { unified, raw: unified } satisfies LanguageModelV4FinishReason
    }
  }

  async function * parts (given: Awaited<ReturnType<typeof answer>>, signal?: AbortSignal): AsyncGenerator<LanguageModelV4StreamPart> {
    yield { type: 'stream-start', warnings: [] }
    yield { type: 'response-metadata', id: given.id, modelId, timestamp: new Date(clock.now()) }
    if (given.text) {
      yield { type: 'text-start', id: 'text' }
      let first = true
      for (const [delta] of given.text.matchAll(/\S+\s*|\s+/g)) {
        if (given.chunkMs && !first) await clock.sleep(given.chunkMs, signal)
        signal?.throwIfAborted()
        first = false
        yield { type: 'text-delta', id: 'text', delta }
      }
      yield { type: 'text-end', id: 'text' }
    }
    for (const call of given.toolCalls) {
      signal?.throwIfAborted()
      yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName }
      for (let at = 0; at < call.input.length; at += 4096) {
        yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input.slice(at, at + 4096) }
      }
      yield { type: 'tool-input-end', id: call.toolCallId }
      yield call
    }
    signal?.throwIfAborted()
    if (given.error !== undefined) yield { type: 'error', error: new ScriptedFailure(given.error) }
    yield { type: 'finish', usage: given.usage, finishReason: given.finishReason }
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
      const given = await answer(options)
      if (given.error !== undefined) throw new ScriptedFailure(given.error)
      const content: LanguageModelV4Content[] = given.text ? [{ type: 'text', text: given.text }, ...given.toolCalls] : given.toolCalls
      return { content, finishReason: given.finishReason, usage: given.usage, warnings: [], response: { id: given.id, modelId } }
    }
  }
}

/** Estimates the usage at four characters a token. */
function usage (input: number, output: number): LanguageModelV4Usage {
  const [inputTokens, outputTokens] = [Math.ceil(input / 4), Math.ceil(output / 4)]
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: undefined }
  }
}
