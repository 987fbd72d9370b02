import type { ErrorCode } from '../../../schemas/error-codes.ts'
import type { Provider } from './provider.ts'

/** A provider's failure, described so that the user can act on it. */
export interface Failure {
  /** Names the model, what happened and what to do. Holds no secret. */
  message: string
  code: ErrorCode
  /** Whether a retry of the same call may succeed. */
  retryable: boolean
  /** Milliseconds the provider asks to wait. */
  retryAfterMs?: number
}

/** The parts from which the sentence about a failure is built. */
export interface FailureSubject {
  /** "The model …" or "The model list of …", at the beginning of a sentence. */
  it: string
  /** The same within a sentence. */
  the: string
  /** The provider, at the beginning of a sentence. */
  from: string
  /** Continues "Try again" with the alternative; '' when there is none. */
  instead: string
  isList: boolean
  advice: NonNullable<Provider['advice']>
}

/** A kind of failure. `toSentence` gives its sentence; `detail` is the provider's own message in parentheses, or ''. */
export interface FailureKind extends Omit<Failure, 'message' | 'retryAfterMs'> {
  toSentence(subject: FailureSubject, detail: string): string
}

const kind = (code: ErrorCode, retryable: boolean, toSentence: FailureKind['toSentence']): FailureKind => ({ code, retryable, toSentence })

export const AUTHENTICATION = kind('ERR_PROVIDER_AUTH', false, ({ it, advice }) => `${it} was refused: ${advice.key}`)
export const FORBIDDEN = kind(
  'ERR_PROVIDER_FORBIDDEN',
  false,
  ({ it }, detail) => `${it} may not be used with this key${detail}. Choose another model, or allow it in the provider's account.`
)
export const PAYMENT = kind(
  'ERR_PROVIDER_CREDIT',
  false,
  ({ it }, detail) =>
    `${it} was refused because the provider's account has no credit left${detail}. Add credit there, or choose another model.`
)
export const RATE_LIMIT = kind(
  'ERR_PROVIDER_RATE_LIMIT',
  true,
  ({ it, instead }, detail) => `${it} is limited to fewer requests than were made${detail}. Wait a while${instead}.`
)
export const NOT_FOUND = kind('ERR_MODEL_NOT_FOUND', false, ({ the, from, isList, advice }) =>
  isList
    ? `${from} has no list of models at its address. Check ${advice.address}.`
    : `The provider does not know ${the}. GET /models lists the models there are; choose one with POST /providers/configure. If they are ` +
      `all unknown, check ${advice.address}.`)
export const REFUSED = kind(
  'ERR_PROVIDER_REQUEST',
  false,
  ({ it }, detail) => `${it} did not accept the request${detail}. Shorten the conversation or choose another model.`
)
export const TOO_LONG = kind(
  'ERR_CONTEXT_TOO_LONG',
  false,
  ({ it }, detail) =>
    `${it} cannot read as much as this conversation holds${detail}. Begin a new one, shorten the message, or choose a model with a ` +
    'larger context window; "contextWindows" in config.json says how much a model reads.'
)
export const TIMEOUT = kind('ERR_PROVIDER_TIMEOUT', true, ({ it, instead }) => `${it} did not answer in time. Try again${instead}.`)
export const BROKEN = kind(
  'ERR_PROVIDER_UNAVAILABLE',
  true,
  ({ it, instead }, detail) => `${it} failed at its provider${detail}. Try again in a while${instead}.`
)
export const UNREACHABLE = kind(
  'ERR_PROVIDER_UNREACHABLE',
  true,
  ({ from, advice }, detail) =>
    `${from} cannot be reached${detail}. Check the network connection, whether the server runs, and ${advice.address}.`
)
export const UNTRUSTED = kind(
  'ERR_PROVIDER_CERTIFICATE',
  false,
  ({ from, advice }, detail) =>
    `${from} shows a certificate that is not trusted${detail}. Start the service with NODE_EXTRA_CA_CERTS naming the file of its ` +
    `authority, or check ${advice.address}.`
)
export const NO_TLS = kind(
  'ERR_PROVIDER_TLS',
  false,
  ({ from, advice }, detail) =>
    `${from} does not speak TLS as asked for${detail}. Check whether ${advice.address} begins with http or https.`
)
export const CUT = kind(
  'ERR_PROVIDER_CONNECTION',
  true,
  ({ from }) => `${from} broke off the connection before the answer was complete. Try again.`
)
export const GARBLED = kind(
  'ERR_PROVIDER_RESPONSE',
  true,
  ({ from, instead }) => `${from} sent an answer that cannot be read. Try again${instead}.`
)
export const FOREIGN = kind(
  'ERR_PROVIDER_RESPONSE',
  false,
  ({ from, advice }, detail) => `${from} does not answer as a model server does${detail}. Check ${advice.address}.`
)
export const TOO_LARGE = kind(
  'ERR_PROVIDER_RESPONSE',
  false,
  ({ from, instead }, detail) => `${from} sent an answer that is too large${detail}. Try again${instead}.`
)
export const STOPPED = kind('ERR_ABORTED', false, ({ the }) => `The call to ${the} was stopped.`)
export const OTHER = kind(
  'ERR_PROVIDER_FAILED',
  false,
  ({ it, instead }, detail) => `${it} failed${detail}. Try again${instead}${instead && ' with POST /providers/configure'}.`
)
