import { defineError } from '../lib/service-error.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { exceededLimit, parseJson } from '../lib/json.ts'

const BodyNotJson = defineError('ERR_BODY_NOT_JSON', 'The body is not valid JSON: %s.')
const BodyTooDeep = defineError('ERR_BODY_TOO_DEEP', 'The body is nested deeper than %d levels.')
const BodyTooManyValues = defineError('ERR_BODY_TOO_MANY_VALUES', 'The body holds more than %d values.')
export const BodyTooLarge = defineError('ERR_BODY_TOO_LARGE', 'The body is larger than the %d bytes this route takes.')
export const BodyCutOff = defineError('ERR_BAD_REQUEST', 'The body ended before it was complete; send it again.')
export const NotJsonMedia = defineError('ERR_UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.')

const LIMITS = { levels: 64, values: 200_000 }
/**
 * Matches `__proto__` as a key, with plain or escaped letters. The opening quote of a key follows a brace, a comma or whitespace;
 * inside a string every quote is escaped. A reviver of JSON.parse would find the key too, but would block the event loop for seconds.
 */
const PROTO_KEY = new RegExp(
  `(?<=[{,\\s])"${
    [...'__proto__'].map((letter) => `(?:${letter}|\\\\u00${letter.charCodeAt(0).toString(16).replace('f', '[fF]')})`).join('')
  }"\\s*:`
)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON body of UTF-8 bytes. Returns undefined for an empty body. Throws BodyNotJson, BodyTooDeep or
 * BodyTooManyValues (400). Megabytes of tiny values take seconds to parse, check and copy, so the function
 * yields to the event loop between its passes over a large body.
 */
export async function parseBody (bytes: Buffer): Promise<unknown> {
  if (bytes.length === 0) return undefined
  await yieldToEventLoop()
  // The limits are checked before parsing, so that an excessive value is never built.
  const exceeded = exceededLimit(bytes, LIMITS)
  if (exceeded === 'levels') throw new BodyTooDeep(LIMITS.levels)
  if (exceeded === 'values') throw new BodyTooManyValues(LIMITS.values)
  await yieldToEventLoop()
  const text = decode(bytes)
  await yieldToEventLoop()
  // A `__proto__` key would set the prototype of any copy of the object.
  if (PROTO_KEY.test(text)) throw new BodyNotJson('"__proto__" is not allowed as a key')
  await yieldToEventLoop()
  try {
    return parseJson(text)
  } catch (error) {
    throw new BodyNotJson((error as Error).message)
  }
}

function decode (bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new BodyNotJson('it is not UTF-8')
  }
}
