import { writeFileSync } from 'node:fs'
import { chmod, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Clock } from './clock.ts'

/** Errors of Windows while a program, such as a virus scanner, has a file open. */
export const IN_USE: ReadonlySet<string> = new Set(['EBUSY', 'EPERM', 'EACCES'])
/** Pauses before further tries, milliseconds. */
const PAUSES_MS = [20, 50, 100, 200, 400, 400]

/**
 * Retries work for about a second while Windows refuses it. Virus scanners and indexers hold a file for a moment after it was written, and
 * a file that any program has open cannot be replaced, moved or removed. Throws the last error.
 */
export async function onceFree<T> (
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal | undefined,
  work: () => T | Promise<T>,
  platform: NodeJS.Platform = process.platform
): Promise<T> {
  for (const pause of platform === 'win32' ? PAUSES_MS : []) {
    try {
      return await work()
    } catch (error) {
      if (!IN_USE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
    await clock.sleep(pause, signal)
  }
  return work()
}

/** Syncs a folder, so that renames and new files in it survive a power cut. Windows cannot sync folders and does not need to. */
export async function syncFolder (path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Writes a file in one step, readable by its owner only: readers find the old content or all of the new content, even after a crash. The
 * content is on disk before the promise resolves. To make the name durable, sync the folder.
 */
export async function writeAtomically (path: string, content: string | Buffer): Promise<void> {
  await writeFileAtomic(path, '', {
    mode: 0o600,
    // FileHandle.writeFile would write once and not check how much was written: on a disk that is nearly full, a part would replace the
    // file.
    tmpfileCreated: (temporary) => writeFileSync(temporary, Buffer.from(content))
  })
}

/**
 * Removes a folder with everything in it, including folders without write permission, such as those in Go's caches. Does nothing if there
 * is no folder. Rejects if a second try fails, too.
 */
export async function removeTree (path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    await openFolders(path)
    await rm(path, { recursive: true, force: true })
  }
}

async function openFolders (path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) if (entry.isDirectory()) await openFolders(join(path, entry.name))
}
