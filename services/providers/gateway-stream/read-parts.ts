import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { createEventStreamParser, EventTooLarge } from '../../lib/event-stream.ts'
import { LONGEST_ANSWER, tooLarge, UnusableAnswer } from '../bounded-fetch.ts'

export interface ReadParts {
  parts: LanguageModelV4StreamPart[]
  /** Why the stream cannot be read any further. The parts before are valid. */
  failure?: UnusableAnswer
}

/**
 * Returns a function that takes the next piece of the gateway's event stream and returns the parts that it completes. As in the
 * SDK's reader, `[DONE]` and raw parts are left out, a timestamp becomes a Date, and JSON with keys that would change a prototype
 * is refused.
 */
export function createPartReader (): (chunk: Uint8Array) => ReadParts {
  const parse = createEventStreamParser(LONGEST_ANSWER)
  return (chunk) => {
    const parts: LanguageModelV4StreamPart[] = []
    try {
      for (const text of parse(chunk)) {
        if (text === '[DONE]') continue
        const part = readPart(text)
        if (part.type !== 'raw') parts.push(part)
      }
      return { parts }
    } catch (error) {
      return { parts, failure: error instanceof EventTooLarge ? tooLarge() : new UnusableAnswer('ERR_ANSWER_UNREADABLE', 'no JSON') }
    }
  }
}

const SUSPECT = /__proto__|constructor|\\u00/
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
  const part = JSON.parse(text)
  if (typeof part !== 'object' || part === null) throw new SyntaxError('no object')
  if (SUSPECT.test(text)) refusePrototypes(part)
  if (part.type === 'response-metadata' && part.timestamp && typeof part.timestamp === 'string') part.timestamp = new Date(part.timestamp)
  return part
}

/** Throws a SyntaxError if an object anywhere in the value has a key that would change a prototype when it is copied. */
function refusePrototypes (value: object) {
  for (const [key, inner] of Object.entries(value)) {
    const isObject = typeof inner === 'object' && inner !== null
    if (key === '__proto__' || (key === 'constructor' && isObject && Object.hasOwn(inner, 'prototype'))) throw new SyntaxError('prototype')
    if (isObject) refusePrototypes(inner)
  }
}
