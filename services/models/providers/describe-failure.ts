import type { ErrorCode } from '../../../schemas/error-codes.ts'
import { redacted } from '../../lib/secrets.ts'
import { classifyFailure } from './classify-failure.ts'
import { errorChain, retryAfter, type ErrorFacts } from './error-chain.ts'
import type { Failure } from './failure-kinds.ts'
import type { Provider } from './provider.ts'

export type { Failure } from './failure-kinds.ts'

/** The model or provider that failed, its advice, and the secrets to redact from the message. */
export interface FailureContext {
  /** The model that was called; absent when the model list of `provider` was requested. */
  modelId?: string
  provider?: string
  advice?: Provider['advice']
  secrets: string[]
  now: number
}

/** Messages of the SDK that carry no information; the message of the cause is used instead. */
const UNINFORMATIVE = new RegExp(
  String.raw`^Invalid error response format|^Gateway request failed$|^fetch failed$|^unknown error$|` +
    String.raw`^Failed to process (?:successful|error) response$|^Invalid JSON response$`
)
/** Characters of the provider's message that are repeated in a failure's message. */
const MAX_DETAIL_LENGTH = 300

/** Codes of the service's own errors, thrown before a model is called. */
const NEVER_CALLED: readonly ErrorCode[] = ['ERR_PROVIDER_NOT_CONFIGURED', 'ERR_INVALID_MODEL']

const GATEWAY_ADVICE = {
  key: 'the key is not valid. Set another with POST /providers/configure {"gateway_key": "<key>"}.',
  address: 'the configured address (AI_GATEWAY_BASE_URL, or gateway.baseURL in config.json)'
}

/**
 * Describes why a call to a model or a request for a model list failed. Accepts the provider's errors, which it recognises
 * by name and status (their classes differ between copies of the SDK), network errors, time-outs, and the error parts of a
 * stream, which may be any value.
 */
export function describeFailure (error: unknown, { modelId, provider, advice = GATEWAY_ADVICE, secrets, now }: FailureContext): Failure {
  const chain = errorChain(error)
  // A key that is no secret, such as "ollama", may be part of the id, which must stay readable.
  const secretsOutsideId = secrets.filter((secret) => !(modelId ?? provider ?? '').includes(secret))
  for (const code of NEVER_CALLED) {
    const refusal = chain.find((facts) => facts.code === code)
    if (refusal) return { message: clean(refusal.message, secretsOutsideId), code, retryable: false }
  }
  const found = classifyFailure(chain)
  const detail = wordsOf(chain, secrets)
  const retryAfterMs = found.retryable ? retryAfter(chain, now) : undefined
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

/** Returns what a provider said when it refused a call, without keys; undefined when it refused none or said nothing. */
export function providerWords (error: unknown, secrets: string[]): string | undefined {
  const chain = errorChain(error)
  return chain.some(({ status = 0 }) => status >= 400) ? wordsOf(chain, secrets) || undefined : undefined
}

/** Returns the first message of a chain that tells something, shortened and without keys. */
function wordsOf (chain: ErrorFacts[], secrets: string[]): string {
  const cause = chain.find(({ message, name }) => message && name !== 'AI_RetryError' && !UNINFORMATIVE.test(message))?.message ?? ''
  return clean(clean(cause, secrets).replace(/\s+/g, ' '), secrets).slice(0, MAX_DETAIL_LENGTH).replace(/[.\s]+$/, '')
}

/** Redacts the known keys and every string that has the form of a key. */
function clean (message: string, secrets: string[]): string {
  return redacted(message, secrets, '[key]').replace(/\bBearer\s+[\w.~+/=-]{6,}/gi, 'Bearer [key]').replace(
    /\b(?:sk|vck|vcp|vca|pk|key)[-_][\w-]{10,}/g,
    '[key]'
  )
}
