const MESSAGES = /no space left on device|disk quota exceeded|input\/output error/i
const MESSAGE_BY_CODE: Record<string, string> = {
  ENOSPC: 'no space left on device',
  EDQUOT: 'disk quota exceeded',
  EIO: 'input/output error'
}

/**
 * Returns a description, without paths, of an error of a full or failing disk, reported by Node or by LevelDB. Returns
 * undefined for any other error.
 */
export function describeDiskFailure (error: unknown): string | undefined {
  const { code = '', message = '', cause } = error as NodeJS.ErrnoException & { cause?: unknown }
  return MESSAGE_BY_CODE[code] ?? MESSAGES.exec(message)?.[0].toLowerCase() ??
    (cause === undefined || cause === null ? undefined : describeDiskFailure(cause))
}
