import { IN_USE } from '../lib/file-system.ts'
import { defineError } from '../lib/service-error.ts'
import { PathRefused } from '../workspace/index.ts'

/**
 * Throws PathRefused unless the call is allowed to change this real path. A path can lead elsewhere than when the approval was requested.
 */
export function assertExpected (real: string, { paths }: { paths?: readonly string[] }): void {
  if (paths?.includes(real) ?? true) return
  const shown = JSON.stringify(real)
  throw new PathRefused(`${shown} is not the place that was to be changed: a part of the path was replaced meanwhile. Call it again.`)
}

/** Thrown if a tool call fails. The message is for the model. */
export const ToolFailed = defineError('ERR_TOOL_FAILED', '%s')

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

/**
 * Returns the reason of a failed system call as a clause. Windows has three codes for a file that another program holds open, and uses the
 * same codes for missing permissions.
 */
function reasonOf (code: string, syscall: unknown, platform: NodeJS.Platform): string {
  if (platform !== 'win32' || !IN_USE.has(code)) return REASONS[code] ?? `cannot be used (${code})`
  if (syscall === 'access') return 'is marked as read-only: the user can change that in its properties'
  return `is in use by another program, such as an editor or viewer that has it open: close it there and try again${
    code === 'EBUSY' ? '' : '. If none has it open, this user may not change it'
  }`
}

/** Runs `work` on `path`. Converts errors of system calls to a ToolFailed that names the path as the caller wrote it. */
export async function withPathErrors<T> (
  path: string,
  work: () => Promise<T>,
  platform: NodeJS.Platform = process.platform
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (!(error instanceof Error) || code === undefined || !('syscall' in error)) throw error
    throw new ToolFailed(`${JSON.stringify(path)} ${reasonOf(code, error.syscall, platform)}.`)
  }
}
