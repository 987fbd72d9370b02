import {
  type LanguageModelV4StreamPart,
  type JSONObject,
  type LanguageModelV4Usage,
  InvalidResponseDataError,
  type LanguageModelV4FinishReason,
  type SharedV4Warning,
  type LanguageModelV4StreamResult
} from '@ai-sdk/provider'
import { generateId, StreamingToolCallTracker } from '@ai-sdk/provider-utils'
import { type ToolCallDelta, type Usage, readChunk, type Chunk, type Delta } from './read-chunk.ts'
import { createEventStreamParser, EventTooLarge, type ServerEvent } from '../../../lib/event-stream.ts'
import { LONGEST_ANSWER, tooLarge } from '../bounded-fetch.ts'
import type { PartReader, ReadParts } from '../answer-stream/response-batches.ts'

/**
 * Puts together the tool calls that an answer brings in pieces. The SDK's tracker, which its own readers use, decides which call
 * a piece belongs to; it needs the name in the first piece, so pieces before the name wait here.
 */
function createToolCalls (metadataKey: string, enqueue: (part: LanguageModelV4StreamPart) => void) {
  const waiting = new Map<number, ToolCallDelta & { index: number, function: { arguments: string } }>()
  const begun = new Set<number>()
  const tracker = new StreamingToolCallTracker<ToolCallDelta>({ enqueue }, {
    generateId,
    extractMetadata ({ extra_content: extra }) {
      const thoughtSignature = extra?.google?.thought_signature
      return thoughtSignature ? { [metadataKey]: { thoughtSignature } } : undefined
    },
    buildToolCallProviderMetadata: (metadata) => metadata
  })

  return {
    /** Takes a piece. Throws InvalidResponseDataError when it begins a call without a name. */
    take (delta: ToolCallDelta) {
      const { index } = delta
      if (index == null || begun.has(index)) return tracker.processDelta(delta)
      const call = waiting.get(index) ?? { index, function: { arguments: '' } }
      waiting.set(index, call)
      call.id ??= delta.id
      call.extra_content ??= delta.extra_content
      call.function.arguments += delta.function.arguments ?? ''
      const { name } = delta.function
      if (name == null) return
      tracker.processDelta({ ...call, function: { name, arguments: call.function.arguments } })
      waiting.delete(index)
      begun.add(index)
    },
    /** Ends all calls. Throws InvalidResponseDataError when one has no name. */
    end () {
      for (const { index, id, function: { arguments: input } } of waiting.values()) {
        tracker.processDelta({ index, id, function: { arguments: input } })
      }
      waiting.clear()
      tracker.flush()
    }
  }
}

/** Returns the tokens of an answer, and those of predictions that the answer took over or not. */
function countedUsage (usage: Usage | undefined): { tokens: LanguageModelV4Usage, predictions: JSONObject } {
  if (usage === undefined) {
    return {
      tokens: {
        inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        raw: undefined
      },
      predictions: {}
    }
  }
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: input, completion_tokens_details: output } = usage
  const total = prompt ?? 0
  const written = completion ?? 0
  const cacheRead = input?.cached_tokens ?? 0
  const reasoning = output?.reasoning_tokens ?? 0
  const { accepted_prediction_tokens: accepted, rejected_prediction_tokens: rejected } = output ?? {}
  return {
    tokens: {
      inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
      outputTokens: { total: written, text: Math.max(0, written - reasoning), reasoning },
      raw: usage as JSONObject
    },
    predictions: {
      ...accepted != null && { acceptedPredictionTokens: accepted },
      ...rejected != null && { rejectedPredictionTokens: rejected }
    }
  }
}

interface Told {
  warnings: SharedV4Warning[]
  /** The name under which metadata of this provider is kept. */
  metadataKey: string
}

const REASONS: Record<string, LanguageModelV4FinishReason['unified']> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  function_call: 'tool-calls',
  tool_calls: 'tool-calls'
}
const BLOCKS = { text: 'txt-0', reasoning: 'reasoning-0' } as const
type Block = keyof typeof BLOCKS

/** Creates the reader of a stream of chat completions. It makes the parts of it that the reader of `@ai-sdk/openai-compatible` makes. */
function createChunkReader ({ warnings, metadataKey }: Told): PartReader {
  const parse = createEventStreamParser(LONGEST_ANSWER)
  let parts: LanguageModelV4StreamPart[] = []
  const toolCalls = createToolCalls(metadataKey, (part) => parts.push(part))
  const open = { text: false, reasoning: false }
  let hasMetadata = false
  let hasRefusal = false
  let rawReason: string | undefined
  let finishReason: LanguageModelV4FinishReason | undefined
  let usage: Usage | undefined

  function close (block: Block) {
    if (open[block]) parts.push({ type: `${block}-end`, id: BLOCKS[block] })
    open[block] = false
  }

  function append (block: Block, delta: string) {
    const id = BLOCKS[block]
    if (!open[block]) {
      close(block === 'text' ? 'reasoning' : 'text')
      parts.push({ type: `${block}-start`, id })
      open[block] = true
    }
    parts.push({ type: `${block}-delta`, id, delta })
  }

  function fail (error: unknown) {
    finishReason = { unified: 'error', raw: undefined }
    rawReason = undefined
    parts.push({ type: 'error', error })
  }

  function takeMetadata ({ id, model, created }: Chunk) {
    // Some servers send an empty chunk first, and 0 for an unknown time.
    if (hasMetadata || (!id && !model && !created)) return
    hasMetadata = true
    const timestamp = created ? new Date(created * 1000) : undefined
    parts.push({ type: 'response-metadata', id: id ?? undefined, modelId: model ?? undefined, timestamp })
  }

  function takeDelta ({ content, refusal, reasoning_content: thought, reasoning, tool_calls: calls }: Delta) {
    const thoughts = thought ?? reasoning
    if (thoughts) append('reasoning', thoughts)
    if (typeof content === 'string') {
      if (content !== '') append('text', content)
    } else for (const { block, text } of textsOf(content ?? [])) append(block, text)
    if (typeof refusal === 'string' && refusal !== '') {
      hasRefusal = true
      append('text', refusal)
    }
    if (!calls?.length) return
    close('reasoning')
    for (const call of calls) toolCalls.take(call)
  }

  function take ({ data: text }: ServerEvent) {
    if (text === undefined || text === '[DONE]') return
    const read = readChunk(text)
    if ('error' in read) return fail(read.error)
    const { chunk } = read
    takeMetadata(chunk)
    usage = chunk.usage ?? usage
    const choice = chunk.choices[0]
    rawReason = choice?.finish_reason ?? rawReason
    if (choice?.delta) takeDelta(choice.delta)
  }

  function end () {
    close('reasoning')
    close('text')
    toolCalls.end()
    // Only now it is known whether the model refused.
    if (rawReason !== undefined) {
      finishReason = { unified: rawReason === 'stop' && hasRefusal ? 'content-filter' : reasonOf(rawReason), raw: rawReason }
    }
    if (finishReason === undefined) {
      fail(new InvalidResponseDataError({ data: undefined, message: 'Response stream ended without a finish reason.' }))
    }
    const { tokens, predictions } = countedUsage(usage)
    parts.push({ type: 'finish', finishReason: finishReason!, usage: tokens, providerMetadata: { [metadataKey]: predictions } })
  }

  /** Returns the parts that come of `work`. */
  function collect (work: () => void): ReadParts {
    parts = []
    try {
      work()
      return { parts }
    } catch (error) {
      return { parts, failure: error instanceof EventTooLarge ? tooLarge() : error }
    }
  }

  return {
    first: [{ type: 'stream-start', warnings }],
    take: (bytes) => collect(() => parse(bytes).forEach(take)),
    end: () => collect(end)
  }
}

const reasonOf = (raw: string) => Object.hasOwn(REASONS, raw) ? REASONS[raw] : 'other'

/** Returns the texts and thoughts of a content that is a list, as Mistral sends it. */
function textsOf (content: Exclude<Delta['content'], string | null | undefined>): Array<{ block: Block, text: string }> {
  return content.map(({ type, text, thinking }) => ({
    block: type === 'thinking' ? 'reasoning' as const : 'text' as const,
    text: type === 'text' ? textOf(text) : type === 'thinking' && Array.isArray(thinking) ? thinking.map(thoughtOf).join('') : ''
  })).filter(({ text }) => text !== '')
}

const textOf = (text: unknown) => typeof text === 'string' ? text : ''
const thoughtOf = (part: { type?: unknown, text?: unknown } | null) => part?.type === 'text' ? textOf(part.text) : ''

/** Creates the reader of an answer. `result` is what the SDK made of an empty one: it tells the warnings and the name of the metadata. */
export async function readerAfter ({ stream }: LanguageModelV4StreamResult) {
  const told = { warnings: [], metadataKey: '' }
  for await (const part of stream) {
    if (part.type === 'stream-start') Object.assign(told, { warnings: part.warnings })
    if (part.type === 'finish') Object.assign(told, { metadataKey: Object.keys(part.providerMetadata ?? {})[0] })
  }
  return createChunkReader(told)
}
