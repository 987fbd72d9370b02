import { createError } from '@fastify/error'
import { nestsDeeper, parseJson } from '../json.ts'

export const BodyNotJson = createError('ERR_BODY_NOT_JSON', 'The body is not valid JSON: %s.', 400)
export const BodyTooDeep = createError('ERR_BODY_TOO_DEEP', 'The body is nested deeper than %d levels.', 400)
export const NotJsonMedia = createError('ERR_UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.', 415)

const MAX_DEPTH = 64
/** `__proto__`, plain or with escapes: only then is the slower parse with a reviver worth it. */
const MAY_HIDE_PROTO = /__proto__|\\u00/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON body of UTF-8 bytes; throws BodyNotJson or BodyTooDeep (400). An empty body is none. */
export function parseBody (bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  // Before it is parsed, so that no deep structure is ever built.
  if (nestsDeeper(bytes, MAX_DEPTH)) throw new BodyTooDeep(MAX_DEPTH)
  try {
    const text = utf8.decode(bytes)
    return MAY_HIDE_PROTO.test(text) ? parseJson(text, refuseProto) : parseJson(text)
  } catch (error) {
    if (error instanceof TypeError) throw new BodyNotJson('it is not UTF-8')
    throw new BodyNotJson((error as Error).message)
  }
}

/** `__proto__` as a key would become a prototype as soon as somebody copies the object. */
function refuseProto (key: string, value: unknown) {
  if (key === '__proto__') throw new SyntaxError('"__proto__" is not allowed as a key')
  return value
}
