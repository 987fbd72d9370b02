import { defineError } from '../../lib/service-error.ts'
import type { ErrorCode } from '../../../schemas/error-codes.ts'
import type { Provider } from './provider.ts'
import { redacted } from '../../lib/secrets.ts'
import { errorChain, type ErrorFacts, retryAfter } from './error-facts.ts'

export const InvalidModelId = defineError('ERR_INVALID_MODEL', 'The model %s is not valid: %s')
export const ProviderNotConfigured = defineError('ERR_PROVIDER_NOT_CONFIGURED', 'The model %s cannot be used yet: %s')
/** A model that a request asks for and that the configuration does not serve. */
export const ModelNotUsable = defineError('ERR_INVALID_MODEL', 'The model %s cannot be used yet: %s')
export const NoLocalServer = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'No model server answers at %s on this machine, or it has no model. Start it and look for it again.'
)
export const NoKeyTaken = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'The models of the provider "local" are files on this computer: it takes no key.'
)
export const NoLocalFile = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'There is no model file %s among those that GET /models?discover=true finds, or "providers.local" of config.json is a server. Name the ' +
  'file in config.json under "providers.local.files", or put it into the folder "models" of the home of the service.'
)
export const UnknownProvider = defineError(
  'ERR_UNKNOWN_PROVIDER',
  'There is no provider %s to have a key: add it to config.json under "providers" first. Only openai, anthropic and google need no ' +
  'entry; the key of the gateway is "gateway_key".'
)

/** A provider's failure, described so that the user can act on it. */
export interface Failure {
  /** Names the model, what happened and what to do. Holds no secret. */
  message: string
  code: ErrorCode
  /** True if a retry of the same call might succeed. */
  retryable: boolean
  /** The wait that the provider asks for, in milliseconds. */
  retryAfterMs?: number
}

/** The parts from which the sentence about a failure is built. */
interface FailureSubject {
  /** "The model …" or "The model list of …", for the beginning of a sentence. */
  it: string
  /** The text of `it` in lower case, for use within a sentence: "the model …". */
  the: string
  /** The provider, at the beginning of a sentence. */
  from: string
  /** Continues "Try again" with the alternative; '' when there is none. */
  instead: string
  isList: boolean
  advice: NonNullable<Provider['advice']>
}

/** A kind of failure. `toSentence` gives its sentence; `detail` is the provider's own message in parentheses, or ''. */
interface FailureKind extends Omit<Failure, 'message' | 'retryAfterMs'> {
  toSentence(subject: FailureSubject, detail: string): string
}

const kind = (code: ErrorCode, retryable: boolean, toSentence: FailureKind['toSentence']): FailureKind => ({ code, retryable, toSentence })

const AUTHENTICATION = kind('ERR_PROVIDER_AUTH', false, ({ it, advice }, detail) => `${it} was refused${detail}: ${advice.key}`)
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
  ({ it, instead }, detail) => `${it} hit its rate limit${detail}. Wait a while${instead}.`
)
const NOT_FOUND = kind('ERR_MODEL_NOT_FOUND', false, ({ the, from, isList, advice }, detail) =>
  isList
    ? `${from} has no list of models at its address. Check ${advice.address}.`
    : `The provider does not know ${the}${detail}. Choose another model in the settings. If it knows none of them, check ` +
      `${advice.address}.`)
const REFUSED = kind(
  'ERR_PROVIDER_REQUEST',
  false,
  ({ it }, detail) => `${it} did not accept the request${detail}. Change what it names, or choose another model.`
)
const TOO_LONG = kind(
  'ERR_CONTEXT_TOO_LONG',
  false,
  ({ it }, detail) =>
    `${it} cannot read as much as this conversation holds${detail}. Begin a new one, shorten the message, or choose a model that ` +
    'reads more.'
)
const TOO_MANY_TOOLS = kind(
  'ERR_TOO_MANY_TOOLS',
  false,
  ({ it }, detail) =>
    `${it} takes fewer tools than the call described${detail}. Leave some out with options.denyTools, such as "server:<name>", or ` +
    'disconnect a tool server; do not deny findTools, with which the model finds tools that are not described.'
)
const TIMEOUT = kind('ERR_PROVIDER_TIMEOUT', true, ({ it, instead }) => `${it} did not answer in time. Try again${instead}.`)
/** A timeout that the provider reports. */
const LATE = kind(
  'ERR_PROVIDER_TIMEOUT',
  true,
  ({ it, instead }, detail) => `${it} did not answer in time${detail}. Try again${instead}.`
)
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
    `${from} shows a certificate that is not trusted${detail}. Start the service with NODE_EXTRA_CA_CERTS naming the file of its ` +
    `authority, or check ${advice.address}.`
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
const UNSEEN = kind(
  'ERR_TOOLS_UNSEEN',
  true,
  ({ from }, detail) => `${from} did not show the model its tools${detail}. They are described to it in words.`
)
const STOPPED = kind('ERR_ABORTED', false, ({ the }) => `The call to ${the} was stopped.`)
const OTHER = kind(
  'ERR_PROVIDER_FAILED',
  false,
  ({ it, instead }, detail) => `${it} failed${detail}. Try again${instead}.`
)

const BY_TYPE = new Map<string | undefined, FailureKind>(Object.entries({
  authentication_error: AUTHENTICATION,
  forbidden: FORBIDDEN,
  rate_limit_exceeded: RATE_LIMIT,
  model_not_found: NOT_FOUND,
  invalid_request_error: REFUSED,
  timeout_error: TIMEOUT,
  // OpenAI sends some of these as the error's code, some as its type.
  invalid_api_key: AUTHENTICATION,
  insufficient_quota: PAYMENT,
  context_length_exceeded: TOO_LONG,
  server_error: BROKEN,
  overloaded_error: BROKEN
}))
const BY_CODE: Array<[RegExp, FailureKind]> = [
  [/^ERR_ANSWER_TOO_LARGE$/, TOO_LARGE],
  [/^ERR_ANSWER_UNREADABLE$/, GARBLED],
  [/^ERR_TOOLS_UNSEEN$/, UNSEEN],
  [/^ERR_ANSWER_(?:FOREIGN|ELSEWHERE)$/, FOREIGN],
  [/^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|UND_ERR_ABORTED)$/, CUT],
  [/^(?:CERT_\w+|ERR_TLS_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/, UNTRUSTED],
  [/^(?:ERR_SSL_\w+|EPROTO)$/, NO_TLS],
  [/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, UNREACHABLE]
]
/**
 * Messages about a conversation that is too long for the model: Anthropic, OpenAI, Google, Mistral, vLLM, llama.cpp,
 * Ollama, OpenRouter.
 */
const TOO_LONG_PATTERN = new RegExp(
  String.raw`context[ _](?:length|window|size|limit)|prompt is too long|maximum context|` +
    String.raw`input (?:is too long|token count .*exceeds|length and .*exceed)|too many (?:input )?tokens|` +
    String.raw`reduce the length of the messages|exceeds? the (?:model's )?(?:maximum|max) (?:number of )?(?:input )?tokens`,
  'i'
)
export const isOfLength = (words: string): boolean => TOO_LONG_PATTERN.test(words)

/** The nouns for tools in messages about too many tools: OpenAI and those that follow it, Anthropic, Google, Groq, xAI, Mistral. */
const KINDS_OF_TOOLS = String.raw`(?:tools?|functions?|tool definitions|function[ _]declarations)\b`
/** Messages of temporary failures, for errors that have neither a status nor a known type. */
const PASSING: Array<[RegExp, FailureKind]> = [
  [/rate.?limit|too many requests/i, RATE_LIMIT],
  [/overloaded|temporarily unavailable|at capacity|try again (?:later|in a)|internal (?:server )?error/i, BROKEN]
]
const MANY_TOOLS_PATTERN = new RegExp(
  String.raw`too many ${KINDS_OF_TOOLS}|\btools\b(?![[.])[^.[]{0,40}?(?:array too long|at most \d+ items|maximum number of items)|` +
    String.raw`(?:maximum|max)(?: number)?(?: of)?(?: \d+)?(?: allowed)? ${KINDS_OF_TOOLS}|` +
    String.raw`(?:at most|up to|more than|limit of|maximum of|supports(?: only)?) \d+ ${KINDS_OF_TOOLS}`,
  'i'
)
export const isOfToolCount = (words: string): boolean => MANY_TOOLS_PATTERN.test(words)

const CUT_PATTERN = /^(?:terminated|other side closed|socket hang up)$|broke off before it was finished|ended without a finish reason/
const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT)$/

/** Returns the kind of failure in an error chain. Timeouts and aborts take precedence over codes, and codes over statuses. */
function classifyFailure (chain: ErrorFacts[]): FailureKind {
  if (
    chain.some(({ name, code }) => name === 'TimeoutError' || name === 'GatewayTimeoutError' || TIMEOUT_CODES.test(code ?? '')) ||
    chain.some(({ name, code, message }) => name === 'AbortError' && (code === 'timeout' || /time-?out/i.test(message)))
  ) return TIMEOUT
  if (chain.some(({ name }) => name === 'AbortError')) return STOPPED
  for (const [pattern, found] of BY_CODE) if (chain.some(({ code }) => pattern.test(code ?? ''))) return found
  if (chain.some(({ message }) => CUT_PATTERN.test(message))) return CUT
  if (
    chain.some(({ name }) => name === 'AI_JSONParseError' || name === 'AI_TypeValidationError' || name === 'SyntaxError') &&
    !chain.some(({ status }) => status !== undefined && status >= 400 && status !== 500)
  ) return GARBLED
  // OpenAI reports missing credit as 429, but waiting does not help.
  if (chain.some(({ type, code }) => type === 'insufficient_quota' || code === 'insufficient_quota')) return PAYMENT
  if (chain.some(({ status = 0, message }) => [400, 413, 422].includes(status) && MANY_TOOLS_PATTERN.test(message))) return TOO_MANY_TOOLS
  // Only the message identifies a conversation that is too long: providers use different statuses and types.
  if (
    chain.some(({ message }) => TOO_LONG_PATTERN.test(message)) &&
    !chain.some(({ status = 0 }) => [401, 402, 403, 404, 429].includes(status))
  ) return TOO_LONG
  // Google and Anthropic answer these with 400.
  if (chain.some(({ message }) => /^API key (?:not valid|expired)/i.test(message))) return AUTHENTICATION
  if (chain.some(({ message }) => /credit balance is too low/i.test(message))) return PAYMENT
  for (const { type, code, status } of chain) {
    const named = BY_TYPE.get(type) ?? BY_TYPE.get(code)
    const found = named ?? (status === undefined ? undefined : statusKind(status))
    if (found) return found
  }
  const passing = PASSING.find(([pattern]) => chain.some(({ message }) => pattern.test(message)))
  return passing?.[1] ?? OTHER
}

function statusKind (status: number): FailureKind | undefined {
  if (status === 401) return AUTHENTICATION
  if (status === 402) return PAYMENT
  if (status === 403) return FORBIDDEN
  if (status === 404) return NOT_FOUND
  if (status === 408 || status === 504) return LATE
  if (status === 413) return TOO_LONG
  if (status === 429) return RATE_LIMIT
  if (status >= 500) return BROKEN
  return status >= 400 ? REFUSED : undefined
}

/** The model or provider that failed, its advice, and the secrets to redact from the message. */
interface FailureContext {
  /** The model that was called; absent when the model list of `provider` was requested. */
  modelId?: string
  provider?: string
  advice?: Provider['advice']
  secrets: string[]
  now: number
}

/** Messages of the SDK without information. The message of the cause is used instead. */
const UNINFORMATIVE = new RegExp(
  String.raw`^Invalid error response format|^Gateway request failed$|^fetch failed$|^unknown error$|` +
    String.raw`^Failed to process (?:successful|error) response$|^Invalid JSON response$`
)
/** Errors whose message was written by the SDK. */
const OF_THE_SDK = new Set(['AI_RetryError', 'GatewayAuthenticationError'])
/** Characters of the provider's message that are repeated in a failure's message. */
const MAX_DETAIL_LENGTH = 300

/** Codes of the service's own errors that are thrown before a model is called. */
const NEVER_CALLED: readonly ErrorCode[] = ['ERR_PROVIDER_NOT_CONFIGURED', 'ERR_INVALID_MODEL']

/** A failure of a recorded call, described in the recorded words. */
export class RecordedFailure extends Error {
  readonly code: ErrorCode
  override name = 'RecordedFailure'

  constructor ({ code, message }: Pick<Failure, 'code' | 'message'>) {
    super(message)
    this.code = code
  }
}

const GATEWAY_ADVICE = {
  key: 'the key of the gateway is not valid. Set another in the settings.',
  address: 'the address of the gateway in the settings'
}

/**
 * Describes why a call to a model or a request for a model list failed. Accepts the provider's errors, which it recognises
 * by name and status (their classes differ between copies of the SDK), network errors, time-outs, and the error parts of a
 * stream, which can be any value.
 */
export function describeFailure (error: unknown, { modelId, provider, advice = GATEWAY_ADVICE, secrets, now }: FailureContext): Failure {
  if (error instanceof RecordedFailure) return { message: error.message, code: error.code, retryable: false }
  const chain = errorChain(error)
  // A key that is not secret, such as "ollama", can be part of the id, which must stay readable.
  const secretsOutsideId = secrets.filter((secret) => !(modelId ?? provider ?? '').includes(secret))
  for (const code of NEVER_CALLED) {
    const refusal = chain.find((facts) => facts.code === code)
    if (refusal) return { message: clean(refusal.message, secretsOutsideId), code, retryable: false }
  }
  const found = classifyFailure(chain)
  const detail = wordsOf(chain, secrets)
  const retryAfterMs = retryAfter(chain, now)
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
    message: clean(found.toSentence(subject, detail ? ` (${detail})` : ''), secretsOutsideId),
    code: found.code,
    retryable: found.retryable,
    ...retryAfterMs !== undefined && { retryAfterMs }
  }
}

/** Returns the provider's message about a refused call, without keys; undefined if no call was refused or the message is empty. */
export function providerWords (error: unknown, secrets: string[]): string | undefined {
  const chain = errorChain(error)
  return chain.some(({ status = 0 }) => status >= 400) ? wordsOf(chain, secrets) || undefined : undefined
}

/** Returns the first informative message of a chain, shortened and without keys. */
function wordsOf (chain: ErrorFacts[], secrets: string[]): string {
  const cause = chain.find(({ message, name = '' }) => message && !OF_THE_SDK.has(name) && !UNINFORMATIVE.test(message))?.message ?? ''
  return clean(clean(cause, secrets).replace(/\s+/g, ' '), secrets).slice(0, MAX_DETAIL_LENGTH).replace(/[.\s]+$/, '')
}

/** Redacts the known keys and every string that has the form of a key. */
function clean (message: string, secrets: string[]): string {
  return redacted(message, secrets, '[key]').replace(/\bBearer\s+[\w.~+/=-]{6,}/gi, 'Bearer [key]').replace(
    /\b(?:sk|vck|vcp|vca|pk|key)[-_][\w-]{10,}/g,
    '[key]'
  )
}
