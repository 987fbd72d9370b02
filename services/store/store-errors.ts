import { defineError } from '../lib/service-error.ts'

export const StoreUnavailable = defineError('ERR_STORE_UNAVAILABLE', 'The store is not available: %s')
export const StoreBusy = defineError('ERR_STORE_BUSY', 'Too many writes are waiting for the disk. Try again in a moment')
export const RecordDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored record "%s" cannot be read: it is damaged or was copied from another key'
)

/** Whether an error means that a record exists but cannot be decrypted. */
export const isDamage = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === 'ERR_RECORD_DAMAGED'

/** Resolves to the value read, or to undefined when it cannot be decrypted. Rethrows other errors. */
export const unlessDamaged = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error) => {
    if (!isDamage(error)) throw error
    return undefined
  })

/** For data that the user can enter again: returns an empty value if the record is damaged. Rethrows any other error. */
export function emptyIfDamaged (error: unknown): Record<string, never> {
  if (!isDamage(error)) throw error
  return {}
}

/** Base class of the errors for a store that cannot be opened. `exitCode` is the exit code of the process (sysexits.h). */
export abstract class StoreStartError extends Error {
  abstract readonly code: string
  abstract readonly exitCode: number
}

/** Returns the class of the errors with this code and this exit code. */
const startError = (errorCode: string, exit: number) =>
  class extends StoreStartError {
    readonly code = errorCode
    readonly exitCode = exit
  }

/** Another process, or this one, has the directory open. EX_CANTCREAT */
export class StoreInUse extends startError('ERR_STORE_IN_USE', 73) {
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

/** The available key does not match the data. EX_CONFIG */
export class StoreKeyError extends startError('ERR_STORE_KEY', 78) {}

/** A newer version of the program wrote the data. EX_CONFIG */
export class StoreNewer extends startError('ERR_STORE_NEWER', 78) {
  constructor (found: string, known: string) {
    super(
      `The data was written by a newer version of the service (schema ${found}, this one knows ${known}). ` +
        'Update the service, or restore the copy of the data that was kept beside it.'
    )
  }
}

/** The data was written by a build from before the present base schema. EX_CONFIG */
export class StoreOlder extends startError('ERR_STORE_OLDER', 78) {
  constructor (location: string) {
    super(
      'The data was written by an earlier build of the service, from before its first release, which stored it in another form. ' +
        `Start that build to use the data, or move ${location} away to start empty. Nothing was changed.`
    )
  }
}

/** The database cannot be repaired, or its location holds something else. EX_CONFIG */
export class StoreDamaged extends startError('ERR_STORE_DAMAGED', 78) {
  constructor (location: string, why: string, options?: ErrorOptions) {
    super(
      `The database in ${location} is damaged: ${why}. ` +
        'Restore a backup, or move it away to start empty. Nothing was changed.',
      options
    )
  }
}

/** The database cannot be opened because the disk is full or failing, or access is denied. EX_IOERR */
export class StoreIoError extends startError('ERR_STORE_IO', 74) {
  constructor (location: string, error: unknown) {
    super(
      `The database in ${location} cannot be opened: ${explain(error)}. ` +
        'Check that the disk has free space and works, and that this user may read and write there. Nothing was lost.',
      { cause: error }
    )
  }
}

/** Whether LevelDB found its files missing or broken, in contrast to a locked database, denied access or a full disk. */
export function isCorrupt (error: unknown): boolean {
  const { code, message } = rootOf(error)
  return code === 'LEVEL_CORRUPTION' || /does not exist|No such file|Invalid argument|Is a directory|No such device/.test(message)
}

/**
 * Returns the reason of an error without paths. LevelDB's messages hold paths (`IO error: /path: reason`), which must not
 * leave the process.
 */
export function explain (error: unknown): string {
  const { message, code } = rootOf(error)
  const reason = message.slice(message.lastIndexOf(': ') + 1).trim()
  return /[\\/]/.test(reason) ? code ?? 'unknown error' : reason
}

/** Returns the error that the database itself reported, below the wrappers of abstract-level. */
export function rootOf (error: unknown): Error & { code?: string } {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error ? rootOf(error.cause) : error
}

/** The disk has no space for a second copy of the data. EX_IOERR */
export class StoreNoRoom extends startError('ERR_STORE_NO_ROOM', 74) {
  constructor (why: string) {
    super(
      `The data could not be re-encrypted: ${why}. Nothing was changed. Free as much disk space as the data directory uses, then try again.`
    )
  }
}
