import { chmod, lstat } from 'node:fs/promises'

/**
 * Runs `work`. If it fails because of missing permissions, gives the owner all permissions for the folders, runs it again, and restores the
 * permissions. A command might have removed them. Rejects with any other error of `work`.
 */
export async function inForbidden<T> (folders: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  const modes = new Map<string, number>()
  for (const folder of folders) {
    const stat = await lstat(folder)
    if (!stat.isDirectory() || modes.has(folder)) continue
    modes.set(folder, stat.mode)
    await chmod(folder, stat.mode | 0o700)
  }
  try {
    return await work()
  } finally {
    for (const [folder, mode] of modes) await chmod(folder, mode).catch(() => {})
  }
}
