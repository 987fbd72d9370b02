import type { ErrorBody } from '../../../../schemas/errors.ts'
import type { ChatError } from '../../../../schemas/openai.ts'
import { CHAT_FIELDS, type FieldNames } from './chat-fields.ts'

/** OpenAI's own codes, by which clients distinguish failures. */
const CODES: Record<string, string> = {
  ERR_UNAUTHORIZED: 'invalid_api_key',
  ERR_AGENT_NOT_FOUND: 'model_not_found',
  ERR_INVALID_MODEL: 'model_not_found',
  ERR_MODEL_NOT_FOUND: 'model_not_found',
  ERR_CONTEXT_TOO_LONG: 'context_length_exceeded',
  ERR_TOO_MANY_RUNS: 'rate_limit_exceeded',
  ERR_PROVIDER_RATE_LIMIT: 'rate_limit_exceeded',
  ERR_PROVIDER_CREDIT: 'insufficient_quota',
  ERR_BUDGET: 'insufficient_quota'
}
/** The HTTP statuses by which clients of OpenAI decide to stop, where the status of this service is another one. */
const STATUSES: Record<string, number> = { ERR_PROVIDER_CREDIT: 402 }
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error'
}

/** Pairs of an option of a run and the field of an OpenAI request from which the option is made. */
const fieldsOf = ({ schema, format }: FieldNames): Array<[option: string, field: string]> => [
  ['options.appTools', 'tools'],
  ['options.object.schema', schema],
  ['options.object', format],
  ['options.model', 'model']
]

/** What a failed run has done: nothing, or something that must not be repeated. */
export type Done = 'nothing' | 'something'

/**
 * Returns the HTTP response for a failure. Clients repeat failed requests by themselves. If the run might have done something (`done`), the
 * header `x-should-retry: false` prevents this.
 */
export function chatFailure (
  body: ErrorBody,
  failed: Error & { done?: Done },
  names?: FieldNames
) {
  const statusCode = STATUSES[body.code] ?? body.statusCode
  const mayRepeat = failed.done !== 'something' && (statusCode < 500 || statusCode === 503)
  return {
    statusCode,
    headers: mayRepeat ? {} : { 'x-should-retry': 'false' },
    body: chatError(body, names)
  }
}

/** Returns an error of this service in OpenAI's format, with the field names of the request in its message. */
export function chatError (body: Pick<ErrorBody, 'error' | 'code' | 'statusCode' | 'details'>, names = CHAT_FIELDS): ChatError {
  const fields = fieldsOf(names)
  const inFields = (text: string) => fields.reduce((named, [option, field]) => named.replaceAll(option, field), text)
  const { code, details } = body
  const statusCode = STATUSES[code] ?? body.statusCode
  const message = inFields(body.error)
  const path = inFields(details?.[0]?.path.split('/').slice(1).join('.') ?? '')
  return {
    error: {
      message,
      type: TYPES[statusCode] ?? (statusCode >= 500 ? 'server_error' : 'invalid_request_error'),
      param: path || (fields.find(([option]) => body.error.startsWith(option))?.[1] ?? null),
      code: CODES[code] ?? code
    }
  }
}
