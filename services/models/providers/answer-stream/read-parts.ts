import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { createEventStreamParser, EventTooLarge } from '../../../lib/event-stream.ts'
import { LONGEST_ANSWER, tooLarge, UnusableAnswer } from '../bounded-fetch.ts'
import { parseSafely } from '../safe-json.ts'
import type { PartReader } from './response-batches.ts'

/**
 * Creates the reader of the gateway's event stream, whose events are parts. As in the SDK's reader, `[DONE]` and raw parts are left
 * out, a timestamp becomes a Date, and JSON with keys that would change a prototype is refused.
 */
export function createPartReader (): PartReader {
  const parse = createEventStreamParser(LONGEST_ANSWER)
  return {
    take (chunk) {
      const parts: LanguageModelV4StreamPart[] = []
      try {
        for (const text of parse(chunk)) {
          if (text === '[DONE]') continue
          const part = readPart(text)
          if (part.type !== 'raw') parts.push(part)
        }
        return { parts }
      } catch (error) {
        return { parts, failure: error instanceof EventTooLarge ? tooLarge() : noJSON() }
      }
    }
  }
}

const noJSON = () => new UnusableAnswer('ERR_ANSWER_UNREADABLE', 'no JSON')

/**
 * A delta without escapes or further keys: by far the most frequent part, of which JSON.parse would take four times as long. The
 * character class holds all characters but quotes, backslashes and control characters.
 */
const PLAIN_DELTA = /^\{"type":"(text|reasoning)-delta","id":"([ !#-[\]-\uffff]*)","delta":"([ !#-[\]-\uffff]*)"\}$/

/** Characters. The expression keeps a state for each character of a text. */
const LONGEST_PLAIN = 4_096

/** Parses one part. Throws a SyntaxError if it is not an object in JSON. */
function readPart (text: string): LanguageModelV4StreamPart {
  const plain = text.length < LONGEST_PLAIN ? PLAIN_DELTA.exec(text) : null
  if (plain !== null) return { type: plain[1] === 'text' ? 'text-delta' : 'reasoning-delta', id: plain[2], delta: plain[3] }
  const part = parseSafely(text) as LanguageModelV4StreamPart & { timestamp?: unknown }
  if (typeof part !== 'object' || part === null) throw new SyntaxError('no object')
  if (part.type === 'response-metadata' && part.timestamp && typeof part.timestamp === 'string') part.timestamp = new Date(part.timestamp)
  return part
}
