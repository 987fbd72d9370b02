import {
  type LanguageModelV4StreamPart,
  type JSONObject,
  type LanguageModelV4Usage,
  type LanguageModelV4FinishReason,
  type SharedV4Warning,
  type LanguageModelV4StreamResult
} from '@ai-sdk/provider'
import { type AnswerEvent, createAnswerEvents } from '../answer-stream/answer-events.ts'
import { notAnAnswer } from '../bounded-fetch.ts'
import type { PartReader, ReadParts } from '../answer-stream/response-batches.ts'
import { createCallsInPieces } from './calls-in-pieces.ts'
import { type Delta, readChunk, type Chunk, type Usage } from './read-chunk.ts'

/** Returns the tokens of an answer, and the accepted and rejected tokens of predictions. */
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
  const { prompt: total = 0, completion: written = 0, cached: cacheRead = 0, reasoning = 0, accepted, rejected, raw } = usage
  return {
    tokens: {
      inputTokens: { total, noCache: Math.max(0, total - cacheRead), cacheRead, cacheWrite: undefined },
      outputTokens: { total: written, text: Math.max(0, written - reasoning), reasoning },
      raw: raw as JSONObject
    },
    predictions: {
      ...accepted !== undefined && { acceptedPredictionTokens: accepted },
      ...rejected !== undefined && { rejectedPredictionTokens: rejected }
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

/** Creates the reader of a stream of chat completions. It yields the same parts as the reader in `@ai-sdk/openai-compatible`. */
function createChunkReader ({ warnings, metadataKey }: Told): PartReader {
  const events = createAnswerEvents()
  let parts: LanguageModelV4StreamPart[] = []
  const toolCalls = createCallsInPieces(metadataKey, (part) => parts.push(part))
  const open = { text: false, reasoning: false }
  let hasMetadata = false
  let hasText = false
  let hasRefusal = false
  /** The choices that arrived in pieces. */
  const inPieces = new Set<number>()
  /** The choice whose texts and thoughts count as the answer. */
  let speaking: number | undefined
  /** Whether the server said that the answer is complete. */
  let isDone = false
  let rawReason: string | undefined
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
    hasText ||= block === 'text'
    parts.push({ type: `${block}-delta`, id, delta })
  }

  function takeMetadata ({ id, model, created }: Chunk) {
    // Some servers send an empty chunk first, and 0 for an unknown time.
    if (hasMetadata || (!id && !model && !created)) return
    hasMetadata = true
    parts.push({ type: 'response-metadata', id, modelId: model, timestamp: created ? new Date(created * 1000) : undefined })
  }

  function takeDelta ({ choice, pieces, refusal, calls, finishReason, isWhole }: Delta) {
    rawReason = finishReason ?? rawReason
    // Some servers send the whole message after its pieces.
    if (isWhole && inPieces.has(choice)) return
    if (!isWhole && (pieces.length > 0 || calls.length > 0)) inPieces.add(choice)
    // Some servers put text and calls into separate choices. A second text would be another answer.
    if (speaking === undefined && (pieces.length > 0 || refusal !== undefined)) speaking = choice
    for (const { block, text } of choice === speaking ? pieces : []) append(block, text)
    if (refusal !== undefined && choice === speaking) {
      hasRefusal = true
      append('text', refusal)
    }
    if (calls.length > 0) close('reasoning')
    for (const call of calls) toolCalls.take(call)
  }

  function take (event: AnswerEvent) {
    if (event.type === 'done') {
      isDone = true
      return
    }
    const { type, value } = event
    isDone ||= type === 'document'
    const chunk = readChunk(value, type === 'value' ? event.event : undefined)
    if (chunk instanceof Error) throw chunk
    if (type === 'document' && chunk.deltas.length === 0) throw notAnAnswer()
    takeMetadata(chunk)
    usage = chunk.usage ?? usage
    chunk.deltas.forEach(takeDelta)
  }

  /** Returns why the answer ended; undefined for one that broke off. */
  function readReason (): LanguageModelV4FinishReason | undefined {
    if (rawReason !== undefined) {
      return { unified: rawReason === 'stop' && hasRefusal ? 'content-filter' : reasonOf(rawReason), raw: rawReason }
    }
    const isWhole = isDone && (hasText || toolCalls.has()) && toolCalls.areWhole()
    return isWhole ? { unified: toolCalls.has() ? 'tool-calls' : 'stop', raw: undefined } : undefined
  }

  function end () {
    events.end().forEach(take)
    close('reasoning')
    close('text')
    const finishReason = readReason()
    // The calls of an answer that broke off are incomplete.
    if (finishReason !== undefined) toolCalls.end()
    const { tokens, predictions } = countedUsage(usage)
    parts.push({
      type: 'finish',
      finishReason: finishReason ?? { unified: 'interrupted', raw: undefined },
      usage: tokens,
      providerMetadata: { [metadataKey]: predictions }
    })
  }

  /** Returns the parts that `work` adds. */
  function collect (work: () => void): ReadParts {
    parts = []
    try {
      work()
      return { parts }
    } catch (failure) {
      return { parts, failure }
    }
  }

  return {
    first: [{ type: 'stream-start', warnings }],
    take (bytes) {
      return collect(() => {
        for (const event of events.take(bytes)) take(event)
      })
    },
    end: () => collect(end)
  }
}

const reasonOf = (raw: string) => Object.hasOwn(REASONS, raw) ? REASONS[raw] : 'other'

/**
 * Creates the parser of an answer. `stream` is the SDK's result for an empty answer: it holds the warnings and the name for the metadata.
 */
export async function readerAfter ({ stream }: LanguageModelV4StreamResult) {
  const told = { warnings: [], metadataKey: '' }
  for await (const part of stream) {
    if (part.type === 'stream-start') Object.assign(told, { warnings: part.warnings })
    if (part.type === 'finish') Object.assign(told, { metadataKey: Object.keys(part.providerMetadata ?? {})[0] })
  }
  return createChunkReader(told)
}
