import type { ErrorBody } from '../../../../schemas/errors.ts'
import type { ChatError } from '../../../../schemas/openai.ts'

/** OpenAI's own codes, by which clients tell failures apart. */
const CODES: Record<string, string> = {
  ERR_UNAUTHORIZED: 'invalid_api_key',
  ERR_AGENT_NOT_FOUND: 'model_not_found',
  ERR_INVALID_MODEL: 'model_not_found',
  ERR_MODEL_NOT_FOUND: 'model_not_found',
  ERR_CONTEXT_TOO_LONG: 'context_length_exceeded',
  ERR_TOO_MANY_RUNS: 'rate_limit_exceeded',
  ERR_PROVIDER_RATE_LIMIT: 'rate_limit_exceeded',
  ERR_BUDGET: 'insufficient_quota'
}
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error'
}

/** The fields of a request from which the options of its run are made. */
const FIELDS: Array<[option: string, field: string]> = [
  ['options.appTools', 'tools'],
  ['options.object.schema', 'response_format.json_schema.schema'],
  ['options.object', 'response_format'],
  ['options.model', 'model']
]
const inFields = (text: string) => FIELDS.reduce((named, [option, field]) => named.replaceAll(option, field), text)

/** Returns an error of this service in OpenAI's shape. */
export function chatError (body: Pick<ErrorBody, 'error' | 'code' | 'statusCode' | 'details'>): ChatError {
  const { code, statusCode, details } = body
  const message = inFields(body.error)
  const path = inFields(details?.[0]?.path.split('/').slice(1).join('.') ?? '')
  return {
    error: {
      message,
      type: TYPES[statusCode] ?? (statusCode >= 500 ? 'server_error' : 'invalid_request_error'),
      param: path || (FIELDS.find(([option]) => body.error.startsWith(option))?.[1] ?? null),
      code: CODES[code] ?? code
    }
  }
}
