/**
 * Whether an error is one of ours, whose message is meant to be read: those have a code and a status. Node's own have such
 * codes as well, and with those of libraries may say what is nobody's business.
 */
export function isServiceError<T> (error: T): error is T & Error & { code: string, statusCode: number } {
  const { code, statusCode } = (error ?? {}) as { code?: unknown, statusCode?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_') && typeof statusCode === 'number'
}
