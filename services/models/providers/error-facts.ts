import { type ErrorWords, readErrorBody } from './error-words.ts'

/** The fields of an error that identify the failure. They are read without relying on the class of the error. */
export interface ErrorFacts {
  status?: number
  type?: string
  name?: string
  code?: string
  headers: Record<string, string>
  message: string
  /** The wait that the body of the answer asks for, in milliseconds. */
  retryAfterMs?: number
}

/** The most characters of a message. A provider's message can hold megabytes, and the patterns that classify it are slow on long texts. */
const MAX_MESSAGE_LENGTH = 4_000

/**
 * Returns the facts of an error and of its causes (8 at most), outermost first. For a retry error, the causes are those of the last
 * attempt.
 */
export function errorChain (error: unknown): ErrorFacts[] {
  const chain: ErrorFacts[] = []
  for (let current = error; current !== undefined && current !== null && chain.length < 8;) {
    if (typeof current !== 'object') {
      chain.push({ message: String(current).slice(0, MAX_MESSAGE_LENGTH), headers: {} })
      break
    }
    const facts = current as Record<string, any>
    // The SDK reads the message of an error answer only in the form that the API documents.
    const body: ErrorWords | undefined = typeof facts.responseBody === 'string' && facts.statusCode >= 400
      ? readErrorBody(facts.responseBody)
      : undefined
    const text = (value: unknown) => typeof value === 'string' ? value.slice(0, MAX_MESSAGE_LENGTH) : undefined
    chain.push({
      // Errors inside a stream carry the status as their code.
      status: [facts.statusCode, facts.status, facts.code].map(statusOf).find((value) => value !== undefined),
      type: text(facts.type),
      name: text(facts.name),
      code: text(facts.code) ?? text(facts.kind),
      headers: facts.responseHeaders ?? {},
      message: text(body?.message) ?? text(facts.message) ?? text(facts.error) ?? '',
      retryAfterMs: retryDelay(facts.details)
    })
    current = facts.lastError ?? facts.cause ?? facts.reason ?? (typeof facts.error === 'object' ? facts.error : undefined) ??
      facts.data?.error ?? body
  }
  return chain
}

const statusOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : undefined

/**
 * Returns the wait that a provider asks for, in milliseconds: in the body, by `retry-after-ms`, or by `retry-after` in seconds or as a date
 * (RFC 9110, 10.2.3). `now` is the current time in epoch milliseconds.
 */
export function retryAfter (chain: ErrorFacts[], now: number): number | undefined {
  for (const { headers, retryAfterMs } of chain) {
    if (retryAfterMs !== undefined) return retryAfterMs
    const exact = Number(headers['retry-after-ms'])
    if (headers['retry-after-ms'] && exact >= 0) return Math.round(exact)
    const after = headers['retry-after']
    if (!after) continue
    const ms = /^\s*\d+(?:\.\d+)?\s*$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now
    if (Number.isFinite(ms)) return Math.max(0, Math.round(ms))
  }
  return undefined
}

/** Reads the wait that Google asks for, such as "34.07s". https://cloud.google.com/apis/design/errors#retry_info */
function retryDelay (details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  const seconds = details.map((detail) => /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(detail?.retryDelay)?.[1]).find((found) => found !== undefined)
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
}
