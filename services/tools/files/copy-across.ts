import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, symlink, type FileHandle } from 'node:fs/promises'
import { newId } from '../../lib/ids.ts'
import { PathRefused } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { removeEntry } from './delete-file.ts'
import { isMounted, withFile, withSubfolder, type Folder } from './open-folder.ts'

const CHUNK_BYTES = 1024 * 1024

/**
 * Copies an entry, a folder with all that is in it, to a folder on another file system and syncs it. Returns the name of the copy, which
 * is a temporary one. Throws for what is no file, folder or link; then nothing is left of the copy.
 */
export async function copyAcross (
  { folder, name }: { folder: Folder, name: string },
  to: Folder,
  paths: PathPolicy,
  signal: AbortSignal
): Promise<string> {
  const temporary = `.${newId()}.tmp`
  try {
    await copy(folder, name, to, temporary)
    return temporary
  } catch (error) {
    const stat = await lstat(to.entry(temporary)).catch(() => undefined)
    if (stat) await removeEntry(to, temporary, stat.isDirectory(), true, new AbortController().signal).catch(() => {})
    throw signal.aborted ? signal.reason : error
  }

  async function copy (from: Folder, name: string | Buffer, into: Folder, newName: string | Buffer): Promise<void> {
    signal.throwIfAborted()
    const stat = await lstat(from.entry(name))
    // Without setuid and setgid, as for every file that is written.
    const mode = stat.mode & 0o777
    if (stat.isSymbolicLink()) return symlink(await readlink(from.entry(name), { encoding: 'buffer' }), into.entry(newName))
    if (stat.isFile()) {
      return withFile(from, name, paths, async (file) => {
        const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
        const made = await open(into.entry(newName), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        try {
          await copyBytes(file, made)
          await made.utimes(stat.atime, stat.mtime)
          await made.chmod(mode)
          await made.sync()
        } finally {
          await made.close()
        }
      })
    }
    if (!stat.isDirectory()) throw new PathRefused(`${JSON.stringify(name.toString())} is a device, pipe or socket and cannot be copied.`)
    await mkdir(into.entry(newName), 0o700)
    await withSubfolder(from, name, (inner) =>
      withSubfolder(into, newName, async (made) => {
        if (await isMounted(from, inner)) {
          throw new PathRefused(`Something is mounted at ${JSON.stringify(inner.path)}: what it holds is not moved.`)
        }
        for (const entry of await readdir(inner.entry('.'), { encoding: 'buffer' })) await copy(inner, entry, made, entry)
        await made.handle.chmod(mode)
        await made.handle.sync().catch(() => {})
      }))
  }

  async function copyBytes (from: FileHandle, to: FileHandle): Promise<void> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = 0; ;) {
      signal.throwIfAborted()
      const { bytesRead } = await from.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) return
      await to.write(chunk, 0, bytesRead, at)
      at += bytesRead
    }
  }
}
