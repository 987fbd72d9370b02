import type { ErrorFacts } from './error-chain.ts'
import {
  AUTHENTICATION,
  BROKEN,
  CUT,
  FORBIDDEN,
  FOREIGN,
  GARBLED,
  NOT_FOUND,
  NO_TLS,
  OTHER,
  PAYMENT,
  RATE_LIMIT,
  REFUSED,
  STOPPED,
  TIMEOUT,
  TOO_LARGE,
  TOO_LONG,
  UNREACHABLE,
  UNTRUSTED,
  type FailureKind
} from './failure-kinds.ts'

const BY_TYPE: Record<string, FailureKind> = {
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
}
const BY_CODE: Array<[RegExp, FailureKind]> = [
  [/^ERR_ANSWER_TOO_LARGE$/, TOO_LARGE],
  [/^ERR_ANSWER_UNREADABLE$/, GARBLED],
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
  String.raw`context[ _](?:length|window|size)|prompt is too long|maximum context|` +
    String.raw`input (?:is too long|token count .*exceeds|length and .*exceed)|too many (?:input )?tokens|` +
    String.raw`reduce the length of the messages|exceeds? the (?:model's )?(?:maximum|max) (?:number of )?(?:input )?tokens`,
  'i'
)
const CUT_PATTERN = /^(?:terminated|other side closed|socket hang up)$|broke off before it was finished|ended without a finish reason/
const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT)$/

/** Returns the kind of failure that the chain of an error shows. Time-outs and aborts win over codes, codes over statuses. */
export function classifyFailure (chain: ErrorFacts[]): FailureKind {
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
  // Only the message identifies a conversation that is too long: providers use different statuses and types.
  if (
    chain.some(({ message }) => TOO_LONG_PATTERN.test(message)) &&
    !chain.some(({ status = 0 }) => [401, 402, 403, 404, 429].includes(status))
  ) return TOO_LONG
  // Google and Anthropic answer these with 400.
  if (chain.some(({ message }) => /^API key (?:not valid|expired)/i.test(message))) return AUTHENTICATION
  if (chain.some(({ message }) => /credit balance is too low/i.test(message))) return PAYMENT
  for (const { type, code, status } of chain) {
    const named = BY_TYPE[type ?? ''] ?? BY_TYPE[code ?? '']
    const found = named ?? (status === undefined ? undefined : statusKind(status))
    if (found) return found
  }
  return OTHER
}

function statusKind (status: number): FailureKind | undefined {
  if (status === 401) return AUTHENTICATION
  if (status === 402) return PAYMENT
  if (status === 403) return FORBIDDEN
  if (status === 404) return NOT_FOUND
  if (status === 408 || status === 504) return TIMEOUT
  if (status === 429) return RATE_LIMIT
  if (status >= 500) return BROKEN
  return status >= 400 ? REFUSED : undefined
}
