const SAID = /no space left on device|disk quota exceeded|input\/output error/i
const BY_CODE: Record<string, string> = { ENOSPC: 'no space left on device', EDQUOT: 'disk quota exceeded', EIO: 'input/output error' }

/** What a disk that is full or fails says, without a path, whether Node tells of it or LevelDB does; undefined for any other error. */
export function diskTrouble (error: unknown): string | undefined {
  const { code = '', message = '', cause } = error as NodeJS.ErrnoException & { cause?: unknown }
  return BY_CODE[code] ?? SAID.exec(message)?.[0].toLowerCase() ?? (cause === undefined || cause === null ? undefined : diskTrouble(cause))
}
