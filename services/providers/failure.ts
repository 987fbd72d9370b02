/** A provider's failure in words a person can act on. */
export interface Failure {
  /** Which model, what happened, what to do. Holds no secret. */
  message: string
  /** ERR_… */
  code: string
  /** Whether the same call may work when it is made again. */
  retryable: boolean
  /** Milliseconds the provider asks to wait. */
  retryAfterMs?: number
}

interface Facts {
  status?: number
  type?: string
  name?: string
  code?: string
  headers: Record<string, string>
  message: string
}

type Kind = Omit<Failure, 'message' | 'retryAfterMs'> & { says: (model: string, detail: string) => string }
const kind = (code: string, retryable: boolean, says: Kind['says']): Kind => ({ code, retryable, says })

const AUTHENTICATION = kind('ERR_PROVIDER_AUTH', false, (model) => `${model} was refused: the key is not valid. Set another with POST /providers/configure {"gateway_key": "<key>"}.`)
const FORBIDDEN = kind('ERR_PROVIDER_FORBIDDEN', false, (model, detail) => `${model} may not be used with this key${detail}. Choose another model, or allow it in the provider's account.`)
const PAYMENT = kind('ERR_PROVIDER_CREDIT', false, (model, detail) => `${model} was refused because the provider's account has no credit left${detail}. Add credit there, or choose another model.`)
const RATE_LIMIT = kind('ERR_PROVIDER_RATE_LIMIT', true, (model, detail) => `${model} is limited to fewer requests than were made${detail}. Wait a while, or choose another model.`)
const NO_MODEL = kind('ERR_MODEL_NOT_FOUND', false, (model) => `The provider does not know ${model}. GET /models lists the models there are; choose one with POST /providers/configure.`)
const REFUSED = kind('ERR_PROVIDER_REQUEST', false, (model, detail) => `${model} did not accept the request${detail}. Shorten the conversation or choose another model.`)
const TIMEOUT = kind('ERR_PROVIDER_TIMEOUT', true, (model) => `${model} did not answer in time. Try again, or choose another model.`)
const BROKEN = kind('ERR_PROVIDER_UNAVAILABLE', true, (model, detail) => `${model} failed at its provider${detail}. Try again in a while, or choose another model.`)
const UNREACHABLE = kind('ERR_PROVIDER_UNREACHABLE', true, (model, detail) => `The provider of ${model} cannot be reached${detail}. Check the network connection and the configured address.`)
const CUT = kind('ERR_PROVIDER_CONNECTION', true, (model) => `The connection to the provider of ${model} broke off before the answer was complete. Try again.`)
const GARBLED = kind('ERR_PROVIDER_RESPONSE', true, (model) => `The provider of ${model} sent an answer that cannot be read. Try again, or choose another model.`)
const STOPPED = kind('ERR_ABORTED', false, (model) => `The call to ${model} was stopped.`)
const OTHER = kind('ERR_PROVIDER_FAILED', false, (model, detail) => `${model} failed${detail}. Try again, or choose another model with POST /providers/configure.`)

const BY_TYPE: Record<string, Kind> = {
  authentication_error: AUTHENTICATION,
  forbidden: FORBIDDEN,
  rate_limit_exceeded: RATE_LIMIT,
  model_not_found: NO_MODEL,
  invalid_request_error: REFUSED,
  timeout_error: TIMEOUT
}
/** What the SDK says when it knows nothing; its cause says more. */
const EMPTY_WORDS = /^Invalid error response format|^Gateway request failed$|^fetch failed$|^unknown error$/
const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT)$/
const CUT_CODES = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_ABORTED)$/
const UNREACHABLE_CODES = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|CERT_\w+|ERR_TLS_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/

/**
 * Says what went wrong with a call to a model: the gateway's errors, by name and status (their classes differ between
 * copies of the SDK), network errors, time-outs, and error parts of a stream, which may be any value.
 */
export function describeFailure (error: unknown, modelId: string, { secrets, now }: { secrets: string[], now: number }): Failure {
  const chain = causes(error)
  const ours = chain.find(({ code }) => code === 'ERR_PROVIDER_NOT_CONFIGURED' || code === 'ERR_INVALID_MODEL')
  if (ours) return { message: clean(ours.message, secrets), code: ours.code!, retryable: false }
  const found = classify(chain)
  const own = chain.find(({ message, name }) => message && name !== 'AI_RetryError' && !EMPTY_WORDS.test(message))?.message ?? ''
  const detail = clean(own.replace(/\s+/g, ' ').replace(/[.\s]+$/, ''), secrets).slice(0, 300)
  const wait = found.retryable ? retryAfter(chain, now) : undefined
  return {
    message: clean(found.says(`The model ${modelId}`, detail ? ` (${detail})` : ''), secrets).replace(/(The provider (?:of|does not know)|connection to the provider of|call to) The model/, '$1 the model'),
    code: found.code,
    retryable: found.retryable,
    ...wait !== undefined && { retryAfterMs: wait }
  }
}

function classify (chain: Facts[]): Kind {
  const codeLike = (pattern: RegExp) => chain.some(({ code }) => code !== undefined && pattern.test(code))
  if (chain.some(({ name }) => name === 'TimeoutError' || name === 'GatewayTimeoutError') || codeLike(TIMEOUT_CODES) ||
    chain.some(({ name, code, message }) => name === 'AbortError' && (code === 'timeout' || /time-?out/i.test(message)))) return TIMEOUT
  if (chain.some(({ name }) => name === 'AbortError')) return STOPPED
  if (codeLike(CUT_CODES) || chain.some(({ message }) => /^(?:terminated|other side closed|socket hang up)$|broke off before it was finished/.test(message))) return CUT
  if (codeLike(UNREACHABLE_CODES)) return UNREACHABLE
  if (chain.some(({ name }) => name === 'AI_JSONParseError' || name === 'AI_TypeValidationError' || name === 'SyntaxError') && !chain.some(({ status }) => status !== undefined && status >= 400 && status !== 500)) return GARBLED
  for (const { type, status } of chain) {
    if (type !== undefined && BY_TYPE[type]) return BY_TYPE[type]
    const byStatus = status === undefined ? undefined : statusKind(status)
    if (byStatus) return byStatus
  }
  return OTHER
}

function statusKind (status: number): Kind | undefined {
  if (status === 401) return AUTHENTICATION
  if (status === 402) return PAYMENT
  if (status === 403) return FORBIDDEN
  if (status === 404) return NO_MODEL
  if (status === 408 || status === 504) return TIMEOUT
  if (status === 429) return RATE_LIMIT
  if (status >= 500) return BROKEN
  return status >= 400 ? REFUSED : undefined
}

/** The error and what caused it, outermost first; of retries, the last attempt. */
function causes (error: unknown): Facts[] {
  const chain: Facts[] = []
  for (let current = error; current !== undefined && current !== null && chain.length < 8;) {
    if (typeof current !== 'object') {
      chain.push({ message: String(current), headers: {} })
      break
    }
    const facts = current as Record<string, any>
    const text = (value: unknown) => typeof value === 'string' ? value : undefined
    chain.push({
      status: typeof facts.statusCode === 'number' ? facts.statusCode : typeof facts.status === 'number' ? facts.status : undefined,
      type: text(facts.type),
      name: text(facts.name),
      code: text(facts.code) ?? text(facts.kind),
      headers: facts.responseHeaders ?? {},
      message: text(facts.message) ?? text(facts.error) ?? ''
    })
    current = facts.lastError ?? facts.cause ?? facts.reason ?? (typeof facts.error === 'object' ? facts.error : undefined)
  }
  return chain
}

/** From `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter (chain: Facts[], now: number): number | undefined {
  for (const { headers } of chain) {
    const exact = Number(headers['retry-after-ms'])
    if (headers['retry-after-ms'] && exact >= 0) return Math.round(exact)
    const after = headers['retry-after']
    if (!after) continue
    const ms = /^\s*\d+(?:\.\d+)?\s*$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now
    if (Number.isFinite(ms)) return Math.max(0, Math.round(ms))
  }
  return undefined
}

/** Strikes out known keys, and what looks like one. */
function clean (message: string, secrets: string[]): string {
  const known = secrets.filter((secret) => secret.length >= 4).reduce((text, secret) => text.replaceAll(secret, '[key]'), message)
  return known.replace(/\bBearer\s+[\w.~+/=-]{6,}/gi, 'Bearer [key]').replace(/\b(?:sk|vck|vcp|vca|pk|key)[-_][\w-]{10,}/g, '[key]')
}
