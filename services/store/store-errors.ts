import createError from '@fastify/error'

export const StoreUnavailable = createError('ERR_STORE_UNAVAILABLE', 'The store is not available: %s', 503)
export const StoreBusy = createError('ERR_STORE_BUSY', 'Too many writes are waiting for the disk. Try again in a moment', 503)
export const RecordDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'The stored record "%s" cannot be read: it is damaged or belongs elsewhere',
  500
)

/** Whether a record was there that cannot be deciphered. */
export const isDamage = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === 'ERR_RECORD_DAMAGED'

/** What was read, or undefined where it cannot be deciphered. Throws all else. */
export const unlessDamaged = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error) => {
    if (!isDamage(error)) throw error
    return undefined
  })

/** Why the store did not open. `exitCode` is what the process should end with (sysexits.h). */
export abstract class StoreStartError extends Error {
  abstract readonly code: string
  abstract readonly exitCode: number
}

/** Another process, or this one, has the directory open. EX_CANTCREAT */
export class StoreInUse extends StoreStartError {
  readonly code = 'ERR_STORE_IN_USE'
  readonly exitCode = 73

  constructor (dir: string, { pid, url, isLate = false }: { pid?: number, url?: string, isLate?: boolean } = {}) {
    const holder = pid === undefined ? 'another process' : `process ${pid}${url === undefined ? '' : `, a service at ${url}`}`
    super(
      `The data directory ${dir} is in use by ${holder}${isLate ? ', which is ending but takes too long' : ''}. ` +
        `${
          url === undefined ? 'Stop that process first' : 'Use that service, or stop it first'
        }, or set LOCAL_AGENT_HOME to another directory.`
    )
  }
}

/** The key at hand does not belong to the data. EX_CONFIG */
export class StoreKeyError extends StoreStartError {
  readonly code = 'ERR_STORE_KEY'
  readonly exitCode = 78
}

/** A newer version of the program wrote the data. EX_CONFIG */
export class StoreNewer extends StoreStartError {
  readonly code = 'ERR_STORE_NEWER'
  readonly exitCode = 78

  constructor (found: number, known: number) {
    super(
      `The data was written by a newer version of the service (schema ${found}, this one knows ${known}). ` +
        'Update the service, or put back the copy of the data that was kept beside it.'
    )
  }
}

/** The database is beyond repair, or something else lies in its place. EX_CONFIG */
export class StoreDamaged extends StoreStartError {
  readonly code = 'ERR_STORE_DAMAGED'
  readonly exitCode = 78

  constructor (location: string, why: string, options?: ErrorOptions) {
    super(
      `The database in ${location} is damaged: ${why}. ` +
        'Put a backup in its place, or move it away to start empty. Nothing was changed.',
      options
    )
  }
}

/** The disk does not let the database be opened: it is full, failing, or not ours to write. EX_IOERR */
export class StoreIoError extends StoreStartError {
  readonly code = 'ERR_STORE_IO'
  readonly exitCode = 74

  constructor (location: string, error: unknown) {
    super(
      `The database in ${location} cannot be opened: ${explain(error)}. ` +
        'See that its disk has room and works, and that this user may read and write there. Nothing was lost.',
      { cause: error }
    )
  }
}

/** Whether LevelDB found its files missing or broken, rather than locked, forbidden or on a full disk. */
export function isCorrupt (error: unknown): boolean {
  const { code, message } = rootOf(error)
  return code === 'LEVEL_CORRUPTION' || /does not exist|No such file|Invalid argument|Is a directory|No such device/.test(message)
}

/** What went wrong, in words that may leave the process: LevelDB's messages hold paths (`IO error: /path: reason`). */
export function explain (error: unknown): string {
  const { message, code } = rootOf(error)
  const reason = message.slice(message.lastIndexOf(': ') + 1).trim()
  return /[\\/]/.test(reason) ? code ?? 'unknown error' : reason
}

/** The error that the database itself reported, below the wrappers of abstract-level. */
export function rootOf (error: unknown): Error & { code?: string } {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error ? rootOf(error.cause) : error
}

/** The disk has no room for the data once more. EX_IOERR */
export class StoreNoRoom extends StoreStartError {
  readonly code = 'ERR_STORE_NO_ROOM'
  readonly exitCode = 74

  constructor (why: string) {
    super(
      `The data could not be enciphered anew: ${why}. Nothing was changed. Make room for as much again as the data directory holds, then try again.`
    )
  }
}
