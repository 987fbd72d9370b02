import type { ChatError, Error as ErrorBody } from './generated/index.ts'

/**
 * The only error class of this client, for errors of the service and of the connection. `message` is the service's own error sentence if
 * there is one. The class has the fields of the body `Error`, because the generated functions return it as their `error`.
 */
export class AgentError extends Error {
  /** The text of `message`, under the name that it has in the body `Error`. */
  readonly error: string
  /** An error code of the service (`ERR_…`), or ERR_UNREACHABLE, ERR_STREAM_CUT, ERR_NO_SERVICE or ERR_RUN_ENDED. */
  readonly code: string
  /** The status of an HTTP error response. */
  readonly statusCode?: number
  readonly details?: ErrorBody['details']
  /** Only for ERR_FILES_CHANGED: the changes that an undo would make. */
  readonly changes?: ErrorBody['changes']
  readonly stderr?: ErrorBody['stderr']

  constructor (
    message: string,
    { code, statusCode, details, changes, stderr, cause }: Partial<ErrorBody> & { code: string, cause?: unknown }
  ) {
    super(message, { cause })
    this.name = 'AgentError'
    this.error = message
    this.code = code
    this.statusCode = statusCode
    this.details = details
    this.changes = changes
    this.stderr = stderr
  }
}

/** Returns the AgentError of a failed request, from the response body or from the thrown error. */
export function requestError (baseUrl: string, error: unknown, response?: Response): AgentError {
  if (error instanceof AgentError) return error
  const reason = error instanceof Error ? (error.cause as Error | undefined)?.message || error.message : ''
  if (response === undefined) {
    return new AgentError(`The service at ${baseUrl} cannot be reached: ${reason}.`, { code: 'ERR_UNREACHABLE', cause: error })
  }
  const { error: message, code, ...rest } = (error ?? {}) as Partial<ErrorBody>
  const chat = (error as Partial<ChatError> | undefined)?.error
  if (typeof chat === 'object') return new AgentError(chat.message, { code: chat.code ?? chat.type, statusCode: response.status })
  if (typeof message === 'string' && typeof code === 'string') return new AgentError(message, { ...rest, code })
  if (response.ok && error instanceof Error) {
    return new AgentError(`The answer of the service broke off: ${reason}.`, { code: 'ERR_STREAM_CUT', cause: error })
  }
  return notTheService(baseUrl, response)
}

export const notTheService = (baseUrl: string, { status, statusText }: Response) =>
  new AgentError(`What answers at ${baseUrl} is not the service: ${status} ${statusText}.`, { code: 'ERR_NO_SERVICE', statusCode: status })

export const streamCut = (cause?: unknown) =>
  new AgentError('The stream broke off before the run was over. What it did until then is done, and nothing was sent again.', {
    code: 'ERR_STREAM_CUT',
    cause
  })

/** Returns true if the service would refuse the same request again. */
export const isRefusal = (error: unknown) =>
  !(error instanceof AgentError) || (error.statusCode !== undefined && error.statusCode < 500 && error.statusCode !== 429)

/** Returns true if the connection failed or the service is not available, so that the request can be sent again. */
export const isCut = (error: unknown) =>
  error instanceof AgentError && (['ERR_UNREACHABLE', 'ERR_STREAM_CUT'].includes(error.code) || error.statusCode === 503)
