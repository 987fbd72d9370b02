import type { Error as ErrorBody } from './generated/index.ts'

/** An error of the service or of the connection to it. The message is the service's own sentence whenever it sent one. */
export class AgentError extends Error {
  /** A code of the service (`ERR_…`), or ERR_UNREACHABLE, ERR_STREAM_CUT, ERR_NO_SERVICE or ERR_RUN_ENDED. */
  readonly code: string
  /** The status of an HTTP error response. */
  readonly statusCode?: number
  readonly details?: ErrorBody['details']

  constructor (
    message: string,
    { code, statusCode, details, cause }: { code: string, statusCode?: number, details?: ErrorBody['details'], cause?: unknown }
  ) {
    super(message, { cause })
    this.name = 'AgentError'
    this.code = code
    this.statusCode = statusCode
    this.details = details
  }
}

/** Returns the error of a request that was not answered with a stream. */
export function requestError (baseUrl: string, error: unknown, response?: Response): AgentError {
  if (response === undefined) {
    const { cause } = error as Error
    return new AgentError(`The service at ${baseUrl} cannot be reached: ${(cause as Error)?.message || (error as Error).message}.`, {
      code: 'ERR_UNREACHABLE',
      cause: error
    })
  }
  const { error: message, code, statusCode, details } = (error ?? {}) as Partial<ErrorBody>
  if (typeof message === 'string' && typeof code === 'string') return new AgentError(message, { code, statusCode, details })
  return new AgentError(`What answers at ${baseUrl} is not the service: ${response.status} ${response.statusText}.`, {
    code: 'ERR_NO_SERVICE',
    statusCode: response.status
  })
}
