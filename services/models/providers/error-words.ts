import { isObject, readJson } from '../../lib/json.ts'

/** A provider's message about a failure, in whatever form it came. */
export interface ErrorWords {
  message: string
  type?: string
  code?: string | number
  status?: string | number
  details?: unknown
}

/** Characters that are shown of an error body in an unknown form. */
const SHOWN_OF_BODY = 200

/** An error that a provider sent in place of an answer, or within one. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  constructor ({ message, ...facts }: ErrorWords) {
    super(message)
    Object.assign(this, facts)
  }
}

const textOf = (value: unknown): string | undefined => typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
const isScalar = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Returns the texts of a list of problems: the `detail` of a server in Python, or a list of errors. */
function textOfList (list: unknown[]): string | undefined {
  const texts = list.flatMap((each) => textOf(each) ?? (isObject(each) ? textOf(each.msg) ?? textOf(each.message) : undefined) ?? [])
  return texts.length === 0 ? undefined : texts.join('; ')
}

/** Returns the message, type and code in the value of an error, in any form that servers use; undefined if there is no message. */
export function readErrorWords (value: unknown): ErrorWords | undefined {
  const text = textOf(value)
  if (text !== undefined) return (/^[{[]/.test(text) ? readErrorWords(readJson(text)) : undefined) ?? { message: text }
  if (Array.isArray(value)) return value.length === 1 ? readErrorWords(value[0]) : messageOnly(textOfList(value))
  if (!isObject(value)) return undefined
  const inner = readErrorWords(value.error) ?? (Array.isArray(value.errors) ? readErrorWords(value.errors) : undefined)
  const { type, code, status, details } = value
  const own = {
    ...(typeof type === 'string' && { type }),
    ...(isScalar(code) && { code }),
    ...(isScalar(status) && { status }),
    ...(Array.isArray(details) && { details })
  }
  if (inner !== undefined) return { ...own, ...inner }
  const message = messageOf(value)
  return message === undefined ? undefined : { ...own, message }
}

/**
 * Matches messages that only say that a provider behind the server failed. That provider's own message is in `metadata.raw` (OpenRouter).
 */
const EMPTY_WORDS = /^provider returned (?:an )?error$/i

function messageOf ({ message, detail, metadata, ...others }: Record<string, any>): string | undefined {
  const upstream = isObject(metadata) ? readErrorWords(metadata.raw)?.message : undefined
  const words = readErrorWords(message)?.message
  if (words !== undefined) return upstream !== undefined && EMPTY_WORDS.test(words) ? upstream : words
  return (Array.isArray(detail) ? textOfList(detail) : readErrorWords(detail)?.message) ??
    textOf(others.msg) ?? textOf(others.Message) ?? textOf(others.error_description) ?? textOf(others.error_msg) ?? textOf(others.reason) ??
    textOf(others.description) ?? textOf(others.title) ?? upstream
}

const messageOnly = (message: string | undefined): ErrorWords | undefined => message === undefined ? undefined : { message }

/** Returns the message in the body of an error answer; undefined if there is none. */
export function readErrorBody (body: string): ErrorWords | undefined {
  const found = readErrorWords(readJson(withoutEventLines(body)))
  if (found !== undefined) return found
  const words = body.replace(/<(script|style)\b.*?<\/\1>|<[^>]*>/gis, ' ').replace(/\s+/g, ' ').trim()
  return messageOnly(textOf(words.slice(0, SHOWN_OF_BODY)))
}

/**
 * Returns the JSON in a body that is a single Server-Sent Event, as some servers send it when they refuse a stream; other bodies unchanged.
 */
const withoutEventLines = (body: string): string => /^(?:event:.*\r?\n)?data:\s*([[{].*)/.exec(body.trimStart())?.[1] ?? body

/**
 * Returns the error in an event or a document of an answer; undefined if the value is no error. `isAnswer` is true if the value has fields
 * of an answer: then a `message` without an `error` is no error.
 */
export function errorIn (
  value: Record<string, any>,
  { event, isAnswer }: { event?: string, isAnswer: boolean }
): ProviderError | undefined {
  const isMarked = event === 'error' || value.object === 'error' || value.type === 'error'
  if (isAnswer && !isMarked && value.error === undefined) return undefined
  const words = readErrorWords(value.error) ?? (isMarked || !isAnswer ? readErrorWords(value) : undefined)
  if (words !== undefined) return new ProviderError(words)
  if (isMarked || isObject(value.error)) return new ProviderError({ message: JSON.stringify(value).slice(0, SHOWN_OF_BODY) })
  return undefined
}
