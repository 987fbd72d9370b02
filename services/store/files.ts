import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { cp, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Makes a directory that only its owner may look into, or makes it so. */
export function privateDirectory (dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if ((statSync(dir).mode & 0o777) !== 0o700) chmodSync(dir, 0o700)
}

/** Names in a directory; none when it does not exist. */
export async function namesIn (dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Makes what was renamed or created in `dir` survive a power cut. Windows cannot and need not. */
export async function syncDirectory (dir: string): Promise<void> {
  if (process.platform === 'win32') return
  await sync(dir, 'r')
}

/** Renames durably. */
export async function moveDirectory (from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncDirectory(dirname(to))
}

/** Copies a closed database durably: when the copy is there, it is whole. LOCK holds nothing. */
export async function copyDatabase (from: string, to: string): Promise<void> {
  const draft = `${to}.partial`
  await rm(draft, { recursive: true, force: true })
  await cp(from, draft, { recursive: true, filter: (path) => path !== join(from, 'LOCK') })
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await sync(join(entry.parentPath, entry.name), 'r+')
  }
  await syncDirectory(draft)
  await moveDirectory(draft, to)
}

async function sync (path: string, flags: string): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A time as part of a file name that sorts. */
export const stamp = (ms: number): string => new Date(ms).toISOString().replace(/[:.]/g, '-')
