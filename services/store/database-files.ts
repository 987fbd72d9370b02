import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { onceFree, syncFolder } from '../lib/file-system.ts'

/** Creates a directory that only its owner can access, or restricts the permissions of an existing one. */
export function privateDirectory (dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if ((statSync(dir).mode & 0o777) !== 0o700) chmodSync(dir, 0o700)
}

/** Lists the names in a directory. Returns an empty list when the directory does not exist. */
export async function namesIn (dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Removes a file or directory with all that is in it. Tries again for some seconds where Windows says that something is open. */
export const removeAll = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, ...(process.platform === 'win32' && { maxRetries: 3, retryDelay: 100 }) })

/** Renames a directory and syncs its parent. */
export async function moveDirectory (from: string, to: string): Promise<void> {
  await onceFree(systemClock, undefined, () => rename(from, to))
  await syncFolder(dirname(to))
}

/**
 * Copies the files of a closed database durably. The copy gets its final name only when it is complete. Skips folders and
 * LOCK, which is empty.
 */
export async function copyDatabase (from: string, to: string, excluded: string[] = []): Promise<void> {
  const draft = `${to}.partial`
  await rm(draft, { recursive: true, force: true })
  privateDirectory(draft)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isFile() || ['LOCK', ...excluded].includes(entry.name)) continue
    await copyFile(join(from, entry.name), join(draft, entry.name))
    await sync(join(draft, entry.name), 'r+')
  }
  await syncFolder(draft)
  await moveDirectory(draft, to)
}

/** Syncs every file of a folder and the folder itself, so that they survive a power cut. */
export async function syncFiles (dir: string): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) if (entry.isFile()) await sync(join(dir, entry.name), 'r+')
  await syncFolder(dir)
}

/** Removes all but the newest `count` entries of `dir` whose names begin with `prefix` and end with a stamp. */
export async function keepNewest (dir: string, prefix: string, count: number): Promise<void> {
  const kept = (await namesIn(dir)).filter((name) => name.startsWith(prefix)).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  for (const name of kept.slice(0, -count)) await rm(join(dir, name), { recursive: true, force: true })
}

async function sync (path: string, flags: string): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes the copies of earlier data, from before repairs and migrations, that are older than `ms` milliseconds. */
export async function removeOldCopies (dir: string, { ms, now }: { ms: number, now: number }): Promise<void> {
  for (const name of await namesIn(dir)) {
    if (!/^data\.(?:v\d|damaged-)/.test(name)) continue
    const found = await stat(join(dir, name)).catch(() => undefined)
    if (found !== undefined && found.ctimeMs < now - ms) await rm(join(dir, name), { recursive: true, force: true })
  }
}

/** Formats a time, in milliseconds since the epoch, for a file name that sorts by time. */
export const stamp = (ms: number): string => new Date(ms).toISOString().replace(/[:.]/g, '-')

/** Attributes that identify a file without reading it; `mtimeMs` in milliseconds since the epoch. */
export interface Identity {
  ino: number
  size: number
  mtimeMs: number
}

/** The bytes that are hashed without a yield to the event loop, in a fifth of a millisecond. */
const SLICE_BYTES = 256 * 1024

/**
 * Returns the identity of a regular file; undefined for anything else. Synchronous: a call takes microseconds, and promises for a thousand
 * files would take much longer.
 */
export function identityOf (path: string): Identity | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() ? { ino: stats.ino, size: stats.size, mtimeMs: stats.mtimeMs } : undefined
}

export const isSameFile = (one: Identity | undefined, other: Identity | undefined): boolean =>
  one !== undefined && other !== undefined && one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs

/** Returns the SHA-256 of a file in hex. Reads it in slices, so that the event loop is not blocked for long. */
export async function digestFile (path: string, signal?: AbortSignal): Promise<string> {
  const file = await open(path, 'r')
  try {
    const hash = createHash('sha256')
    const slice = Buffer.allocUnsafe(Math.min(SLICE_BYTES, (await file.stat()).size + 1))
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(slice, 0, slice.length, null)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(slice.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}
