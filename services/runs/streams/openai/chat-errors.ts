import type { ErrorBody } from '../../../../schemas/errors.ts'
import type { ChatError } from '../../../../schemas/openai.ts'
import type { ServiceError } from '../../../lib/service-error.ts'
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
/** The statuses for failures of a provider that clients of OpenAI recognise: they wait or stop. */
const STATUSES: Record<string, number> = { ERR_PROVIDER_RATE_LIMIT: 429, ERR_PROVIDER_CREDIT: 402 }
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error'
}

/** The fields of a request from which the options of its run are made. */
const fieldsOf = ({ schema, format }: FieldNames): Array<[option: string, field: string]> => [
  ['options.appTools', 'tools'],
  ['options.object.schema', schema],
  ['options.object', format],
  ['options.model', 'model']
]

/** What a failed run has done: nothing, or something that must not be repeated. */
export type Done = 'nothing' | 'something'

/**
 * Returns the response for a failure. Clients repeat a failed request, but its run may have done something: `x-should-retry` tells them not
 * to. `done`: what the failed run has done.
 */
export function chatFailure (
  body: ErrorBody,
  failed: Pick<ServiceError, 'retryAfterMs'> & { done?: Done } = {},
  names?: FieldNames
) {
  const statusCode = STATUSES[body.code] ?? body.statusCode
  const mayRepeat = failed.done !== 'something' && (statusCode < 500 || statusCode === 503)
  return {
    statusCode,
    headers: {
      ...!mayRepeat && { 'x-should-retry': 'false' },
      ...failed.retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(failed.retryAfterMs / 1000)) }
    },
    body: chatError(body, names)
  }
}

/** Returns an error of this service in the shape of OpenAI's, with the names of its request's fields. */
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
