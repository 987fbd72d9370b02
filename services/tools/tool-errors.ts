import { defineError } from '../lib/service-error.ts'

/** A path that may not be used. The message names the allowed folders and discloses nothing about the path. */
export const PathRefused = defineError('ERR_PATH_REFUSED', '%s')

/** Throws PathRefused unless the real path is among those that the call may change: it may lead elsewhere since they were looked up. */
export function assertExpected (real: string, { paths }: { paths?: readonly string[] }): void {
  if (paths?.includes(real) ?? true) return
  const shown = JSON.stringify(real)
  throw new PathRefused(`${shown} is not the place that was to be changed: a part of the path was replaced meanwhile. Call it again.`)
}

/** A tool call failed; the message is for the model. */
export const ToolFailed = defineError('ERR_TOOL_FAILED', '%s')

/** The result that a model gets for a call whose end was not recorded. */
export const OUTCOME_UNKNOWN = 'Outcome unknown: this call was interrupted after it had begun, and was not repeated. ' +
  'Check what it did before doing it again.'

/** The last sentence of the error of a call that reached its time limit and may have had its effect. */
export const OUTCOME_NOT_KNOWN = 'What it did by then is not known: check before you repeat it.'

/** Whether the error of a call says that nobody knows whether the call had its effect. */
export const isOutcomeUnknown = (errorText: string): boolean => errorText === OUTCOME_UNKNOWN || errorText.endsWith(OUTCOME_NOT_KNOWN)

const REASONS: Record<string, string> = {
  EACCES: 'may not be used: permission denied',
  EBUSY: 'is in use',
  EEXIST: 'is there already',
  EISDIR: 'is a folder',
  ELOOP: 'is a symbolic link, or was replaced by one while it was used',
  EMFILE: 'has too many levels',
  ENAMETOOLONG: 'is too long for a name or path',
  ENOENT: 'does not exist',
  ENOSPC: 'could not be written: the disk is full',
  ENOTDIR: 'cannot be reached: a part of the path is not a folder',
  ENOTEMPTY: 'is not empty: pass recursive to delete a folder with what is in it',
  ENXIO: 'is not a regular file',
  EPERM: 'may not be changed: operation not permitted',
  EROFS: 'is on a read-only file system'
}

/** Runs `work` on `path`. Turns errors of system calls into a ToolFailed that names the path as the caller gave it. */
export async function withPathErrors<T> (path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (!(error instanceof Error) || code === undefined || !('syscall' in error)) throw error
    throw new ToolFailed(`${JSON.stringify(path)} ${REASONS[code] ?? `cannot be used (${code})`}.`)
  }
}
