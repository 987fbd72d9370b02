import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Returns the content of a regular file; undefined for a file of more than `most` bytes, for a link, and if there is no file to read. */
export async function readSmall (path: string, most = 1024 ** 2, encoding: BufferEncoding = 'utf8'): Promise<string | undefined> {
  let file: FileHandle | undefined
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > most) return undefined
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stat.size + 1))
    return bytesRead > stat.size ? undefined : buffer.toString(encoding, 0, bytesRead)
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}
