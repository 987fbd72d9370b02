import { redacted } from '../lib/secrets.ts'
import type { Provider } from './provider.ts'

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

/** Whose failure it was, and what is known to mend it. */
export interface FailureContext {
  /** The model that was called, or the provider that was asked for its list. */
  modelId?: string
  provider?: string
  advice?: Provider['advice']
  secrets: string[]
  now: number
}

interface Facts {
  status?: number
  type?: string
  name?: string
  code?: string
  headers: Record<string, string>
  message: string
}

/** What a sentence is about: `it` failed (`the` within a sentence), `from` that provider; `instead` names the way around. */
interface Subject {
  it: string
  the: string
  from: string
  instead: string
  isList: boolean
  advice: NonNullable<Provider['advice']>
}
type Kind = Omit<Failure, 'message' | 'retryAfterMs'> & { says: (subject: Subject, detail: string) => string }
const kind = (code: string, retryable: boolean, says: Kind['says']): Kind => ({ code, retryable, says })

const AUTHENTICATION = kind('ERR_PROVIDER_AUTH', false, ({ it, advice }) => `${it} was refused: ${advice.key}`)
const FORBIDDEN = kind(
  'ERR_PROVIDER_FORBIDDEN',
  false,
  ({ it }, detail) => `${it} may not be used with this key${detail}. Choose another model, or allow it in the provider's account.`
)
const PAYMENT = kind(
  'ERR_PROVIDER_CREDIT',
  false,
  ({ it }, detail) =>
    `${it} was refused because the provider's account has no credit left${detail}. Add credit there, or choose another model.`
)
const RATE_LIMIT = kind(
  'ERR_PROVIDER_RATE_LIMIT',
  true,
  ({ it, instead }, detail) => `${it} is limited to fewer requests than were made${detail}. Wait a while${instead}.`
)
const NOT_FOUND = kind('ERR_MODEL_NOT_FOUND', false, ({ the, from, isList, advice }) =>
  isList
    ? `${from} has no list of models at its address. Check ${advice.address}.`
    : `The provider does not know ${the}. GET /models lists the models there are; choose one with POST /providers/configure. If they are all unknown, check ${advice.address}.`)
const REFUSED = kind(
  'ERR_PROVIDER_REQUEST',
  false,
  ({ it }, detail) => `${it} did not accept the request${detail}. Shorten the conversation or choose another model.`
)
const TOO_LONG = kind(
  'ERR_CONTEXT_TOO_LONG',
  false,
  ({ it }, detail) =>
    `${it} cannot read as much as this conversation holds${detail}. Begin a new one, shorten the message, or choose a model with a larger context window; "contextWindows" in config.json says how much a model reads.`
)
const TIMEOUT = kind('ERR_PROVIDER_TIMEOUT', true, ({ it, instead }) => `${it} did not answer in time. Try again${instead}.`)
const BROKEN = kind(
  'ERR_PROVIDER_UNAVAILABLE',
  true,
  ({ it, instead }, detail) => `${it} failed at its provider${detail}. Try again in a while${instead}.`
)
const UNREACHABLE = kind(
  'ERR_PROVIDER_UNREACHABLE',
  true,
  ({ from, advice }, detail) =>
    `${from} cannot be reached${detail}. Check the network connection, whether the server runs, and ${advice.address}.`
)
const UNTRUSTED = kind(
  'ERR_PROVIDER_CERTIFICATE',
  false,
  ({ from, advice }, detail) =>
    `${from} shows a certificate that is not trusted${detail}. Start the service with NODE_EXTRA_CA_CERTS naming the file of its authority, or check ${advice.address}.`
)
const NO_TLS = kind(
  'ERR_PROVIDER_TLS',
  false,
  ({ from, advice }, detail) =>
    `${from} does not speak TLS as asked for${detail}. Check whether ${advice.address} begins with http or https.`
)
const CUT = kind(
  'ERR_PROVIDER_CONNECTION',
  true,
  ({ from }) => `${from} broke off the connection before the answer was complete. Try again.`
)
const GARBLED = kind(
  'ERR_PROVIDER_RESPONSE',
  true,
  ({ from, instead }) => `${from} sent an answer that cannot be read. Try again${instead}.`
)
const FOREIGN = kind(
  'ERR_PROVIDER_RESPONSE',
  false,
  ({ from, advice }, detail) => `${from} does not answer as a model server does${detail}. Check ${advice.address}.`
)
const TOO_LARGE = kind(
  'ERR_PROVIDER_RESPONSE',
  false,
  ({ from, instead }, detail) => `${from} sent an answer that is too large${detail}. Try again${instead}.`
)
const STOPPED = kind('ERR_ABORTED', false, ({ the }) => `The call to ${the} was stopped.`)
const OTHER = kind(
  'ERR_PROVIDER_FAILED',
  false,
  ({ it, instead }, detail) => `${it} failed${detail}. Try again${instead}${instead && ' with POST /providers/configure'}.`
)

const BY_TYPE: Record<string, Kind> = {
  authentication_error: AUTHENTICATION,
  forbidden: FORBIDDEN,
  rate_limit_exceeded: RATE_LIMIT,
  model_not_found: NOT_FOUND,
  invalid_request_error: REFUSED,
  timeout_error: TIMEOUT,
  // OpenAI's, some as the code and some as the type of an error.
  invalid_api_key: AUTHENTICATION,
  insufficient_quota: PAYMENT,
  context_length_exceeded: TOO_LONG,
  server_error: BROKEN,
  overloaded_error: BROKEN
}
const BY_CODE: Array<[RegExp, Kind]> = [
  [/^ERR_ANSWER_TOO_LARGE$/, TOO_LARGE],
  [/^ERR_ANSWER_UNREADABLE$/, GARBLED],
  [/^ERR_ANSWER_(?:FOREIGN|ELSEWHERE)$/, FOREIGN],
  [/^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_ABORTED)$/, CUT],
  [/^(?:CERT_\w+|ERR_TLS_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/, UNTRUSTED],
  [/^(?:ERR_SSL_\w+|EPROTO)$/, NO_TLS],
  [/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, UNREACHABLE]
]
/** What the SDK says when it knows nothing; its cause says more. */
const EMPTY_WORDS =
  /^Invalid error response format|^Gateway request failed$|^fetch failed$|^unknown error$|^Failed to process (?:successful|error) response$|^Invalid JSON response$/
/** Anthropic, OpenAI, Google, Mistral, vLLM, llama.cpp, Ollama, OpenRouter. */
const TOO_LONG_WORDS =
  /context[ _](?:length|window|size)|prompt is too long|maximum context|input (?:is too long|token count .*exceeds|length and .*exceed)|too many (?:input )?tokens|reduce the length of the messages|exceeds? the (?:model's )?(?:maximum|max) (?:number of )?(?:input )?tokens/i
const CUT_WORDS = /^(?:terminated|other side closed|socket hang up)$|broke off before it was finished|ended without a finish reason/
const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT)$/

/** Characters of what a provider says that are looked at: it may say megabytes, and the patterns here take their time with each. */
const LONGEST_WORDS = 4_000
const LONGEST_DETAIL = 300

const GATEWAY_ADVICE = {
  key: 'the key is not valid. Set another with POST /providers/configure {"gateway_key": "<key>"}.',
  address: 'the configured address (AI_GATEWAY_BASE_URL, or gateway.baseURL in config.json)'
}

/**
 * Says what went wrong with a call to a model or for a list: the provider's errors, by name and status (their classes
 * differ between copies of the SDK), network errors, time-outs, and error parts of a stream, which may be any value.
 */
export function describeFailure (error: unknown, { modelId, provider, advice = GATEWAY_ADVICE, secrets, now }: FailureContext): Failure {
  const chain = causes(error)
  // Keys that are no secret, such as "ollama", may be part of the id, which is to stay readable.
  const strange = secrets.filter((secret) => !(modelId ?? provider ?? '').includes(secret))
  const ours = chain.find(({ code }) => code === 'ERR_PROVIDER_NOT_CONFIGURED' || code === 'ERR_INVALID_MODEL')
  if (ours) return { message: clean(ours.message, strange), code: ours.code!, retryable: false }
  const found = classify(chain)
  const own = chain.find(({ message, name }) => message && name !== 'AI_RetryError' && !EMPTY_WORDS.test(message))?.message ?? ''
  const detail = clean(clean(own, secrets).replace(/\s+/g, ' '), secrets).slice(0, LONGEST_DETAIL).replace(/[.\s]+$/, '')
  const wait = found.retryable ? retryAfter(chain, now) : undefined
  const isList = modelId === undefined
  const the = isList ? `the model list of ${provider}` : `the model ${modelId}`
  const subject = {
    it: `T${the.slice(1)}`,
    the,
    from: isList ? `The provider ${provider}` : `The provider of ${the}`,
    instead: isList ? '' : ', or choose another model',
    isList,
    advice
  }
  return {
    message: clean(found.says(subject, detail ? ` (${detail})` : ''), strange),
    code: found.code,
    retryable: found.retryable,
    ...wait !== undefined && { retryAfterMs: wait }
  }
}

function classify (chain: Facts[]): Kind {
  if (
    chain.some(({ name, code }) => name === 'TimeoutError' || name === 'GatewayTimeoutError' || TIMEOUT_CODES.test(code ?? '')) ||
    chain.some(({ name, code, message }) => name === 'AbortError' && (code === 'timeout' || /time-?out/i.test(message)))
  ) return TIMEOUT
  if (chain.some(({ name }) => name === 'AbortError')) return STOPPED
  for (const [pattern, found] of BY_CODE) if (chain.some(({ code }) => pattern.test(code ?? ''))) return found
  if (chain.some(({ message }) => CUT_WORDS.test(message))) return CUT
  if (
    chain.some(({ name }) => name === 'AI_JSONParseError' || name === 'AI_TypeValidationError' || name === 'SyntaxError') &&
    !chain.some(({ status }) => status !== undefined && status >= 400 && status !== 500)
  ) return GARBLED
  // A 429 that no waiting mends.
  if (chain.some(({ type, code }) => type === 'insufficient_quota' || code === 'insufficient_quota')) return PAYMENT
  // Known by nothing but its words: statuses and types differ.
  if (
    chain.some(({ message }) => TOO_LONG_WORDS.test(message)) && !chain.some(({ status = 0 }) => [401, 402, 403, 404, 429].includes(status))
  ) return TOO_LONG
  for (const { type, code, status } of chain) {
    const named = BY_TYPE[type ?? ''] ?? BY_TYPE[code ?? '']
    const found = named ?? (status === undefined ? undefined : statusKind(status))
    if (found) return found
  }
  return OTHER
}

function statusKind (status: number): Kind | undefined {
  if (status === 401) return AUTHENTICATION
  if (status === 402) return PAYMENT
  if (status === 403) return FORBIDDEN
  if (status === 404) return NOT_FOUND
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
      chain.push({ message: String(current).slice(0, LONGEST_WORDS), headers: {} })
      break
    }
    const facts = current as Record<string, any>
    const text = (value: unknown) => typeof value === 'string' ? value.slice(0, LONGEST_WORDS) : undefined
    chain.push({
      // OpenRouter's errors inside a stream carry the status as their code.
      status: [facts.statusCode, facts.status, facts.code].find((value) => typeof value === 'number'),
      type: text(facts.type),
      name: text(facts.name),
      code: text(facts.code) ?? text(facts.kind),
      headers: facts.responseHeaders ?? {},
      message: text(facts.message) ?? text(facts.error) ?? ''
    })
    current = facts.lastError ?? facts.cause ?? facts.reason ?? (typeof facts.error === 'object' ? facts.error : undefined) ??
      facts.data?.error
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
  return redacted(message, secrets, '[key]').replace(/\bBearer\s+[\w.~+/=-]{6,}/gi, 'Bearer [key]').replace(
    /\b(?:sk|vck|vcp|vca|pk|key)[-_][\w-]{10,}/g,
    '[key]'
  )
}
