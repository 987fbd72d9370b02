/**
 * Whether an error was defined by this service, so that its message may be shown: it has a code and a status. Node's errors
 * also have `ERR_` codes, but no status; their messages and those of libraries may hold private data.
 */
export function isServiceError<T> (error: T): error is T & Error & { code: string, statusCode: number } {
  const { code, statusCode } = (error ?? {}) as { code?: unknown, statusCode?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_') && typeof statusCode === 'number'
}
