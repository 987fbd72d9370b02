import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type AnswerEvent, createAnswerEvents } from '../answer-stream/answer-events.ts'
import type { PartReader, ReadParts } from '../answer-stream/response-batches.ts'
import { notAnAnswer } from '../bounded-fetch.ts'
import { errorIn } from '../error-words.ts'
import { parseSafely } from '../safe-json.ts'
import { inputOf, objectOf, objectsOf, textOf, wordsOf } from './fields.ts'

type Fields = Record<string, any>

/**
 * Matches a delta without escapes or further keys, which is by far the most frequent part. The match is four times as fast as JSON.parse.
 * The character class holds all characters but quotes, backslashes and control characters.
 */
const PLAIN_DELTA = /^\{"type":"(text|reasoning)-delta","id":"([ !#-[\]-\uffff]*)","delta":"([ !#-[\]-\uffff]*)"\}$/
/** The longest part, in characters, on which the regular expression is used: it keeps a state for each character. */
const LONGEST_PLAIN = 4_096

/** Parses one part. Throws a SyntaxError if it is no JSON. */
function parsePart (text: string): unknown {
  const plain = text.length < LONGEST_PLAIN ? PLAIN_DELTA.exec(text) : null
  if (plain === null) return parseSafely(text)
  return { type: plain[1] === 'text' ? 'text-delta' : 'reasoning-delta', id: plain[2], delta: plain[3] }
}

/** Returns a part with the used fields in their proper form. Fields that cannot be read are absent. */
function readPart (part: Fields): Fields {
  switch (part.type) {
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
      return typeof part.id === 'string' ? part : { ...part, id: textOf(part.id) ?? '0' }
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      if (typeof part.id === 'string' && typeof part.delta === 'string') return part
      return { ...part, id: textOf(part.id) ?? '0', delta: textOf(part.delta) }
    case 'tool-call':
      return {
        ...part,
        toolCallId: wordsOf(part.toolCallId) ?? wordsOf(part.id),
        input: part.input == null ? undefined : inputOf(part.input) || '{}'
      }
    case 'finish':
      if (typeof part.finishReason !== 'string') return part
      return { ...part, finishReason: { unified: part.finishReason, raw: part.finishReason } }
    case 'response-metadata':
      return part.timestamp && typeof part.timestamp === 'string' ? { ...part, timestamp: new Date(part.timestamp) } : part
    default:
      return part
  }
}

/** Returns the stream parts for one content element of a whole answer. `at` is the element's position in the answer. */
function partsOfContent (content: Fields, at: number): Fields[] {
  const { type, text } = content
  if (type !== 'text' && type !== 'reasoning') return [readPart(content)]
  const id = String(at)
  return [{ type: `${type}-start`, id }, { ...content, type: `${type}-delta`, id, delta: textOf(text) ?? '' }, { type: `${type}-end`, id }]
}

/** Creates the reader of the gateway's event stream, whose events are parts. Raw parts are left out. */
export function createPartReader (): PartReader {
  const events = createAnswerEvents(parsePart)
  let isDone = false
  let isFinished = false
  let hasText = false
  let hasCalls = false
  /** The calls whose input has begun and not ended. */
  const begun = new Set<string>()

  function note (part: Fields) {
    if (part.type === 'text-delta') hasText ||= part.delta !== ''
    else if (part.type === 'tool-input-start') begun.add(part.id)
    else if (part.type === 'tool-call') {
      hasCalls = true
      begun.delete(part.toolCallId)
    } else isFinished ||= part.type === 'finish'
  }

  function readDocument (value: Fields): Fields[] {
    isDone = true
    const error = errorIn(value, { isAnswer: Array.isArray(value.content) })
    if (error !== undefined) throw error
    if (!Array.isArray(value.content)) throw notAnAnswer()
    const { finishReason, usage, providerMetadata } = value
    return [
      ...objectsOf(value.content).flatMap(partsOfContent),
      ...(finishReason === undefined ? [] : [readPart({ type: 'finish', finishReason, usage: objectOf(usage) ?? {}, providerMetadata })])
    ]
  }

  function read (event: AnswerEvent): Fields[] {
    if (event.type === 'done') {
      isDone = true
      return []
    }
    const { value } = event
    if (event.type === 'document') return readDocument(value)
    if (value.type === 'error' && value.error) return [value]
    const error = errorIn(value, { event: event.event, isAnswer: value.type !== undefined })
    if (error !== undefined) throw error
    return typeof value.type === 'string' && value.type !== 'raw' ? [readPart(value)] : []
  }

  function collect (work: () => Iterable<AnswerEvent>): ReadParts {
    const parts: LanguageModelV4StreamPart[] = []
    try {
      for (const event of work()) {
        for (const part of read(event)) {
          note(part)
          parts.push(part as LanguageModelV4StreamPart)
        }
      }
      return { parts }
    } catch (failure) {
      return { parts, failure }
    }
  }

  return {
    take: (bytes) => collect(() => events.take(bytes)),
    end () {
      const { parts, failure } = collect(events.end)
      const isWhole = isDone && !isFinished && (hasText || hasCalls) && begun.size === 0
      if (failure !== undefined || !isWhole) return { parts, failure }
      const finishReason = { unified: hasCalls ? 'tool-calls' as const : 'stop' as const, raw: undefined }
      return { parts: [...parts, { type: 'finish', finishReason, usage: NO_USAGE }] }
    }
  }
}

const NO_USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined }
}
