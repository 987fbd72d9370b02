import { constants } from 'node:fs'
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Target } from './sink.ts'
import type { Config } from '../../schemas/config.ts'

export interface LogFile {
  path: string
  /** The size at which a new file begins; bytes. */
  maxBytes: number
  /** The number of older files that are kept. `<path>.1` is the newest of these. */
  keep: number
}

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = constants

/**
 * Creates a target that appends to a file which only the user can read, and begins a new file when it is full.
 * The first write opens the file. A later write opens it again after a failure, or if another file or none is at
 * the path. A write rejects if the path is a link or not a regular file.
 */
export function rotatingFile ({ path, maxBytes, keep }: LogFile): Target & { close(): Promise<void> } {
  let file: FileHandle | undefined
  let size = 0
  let inode = 0

  async function openFile (): Promise<FileHandle> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    // Without O_NONBLOCK, opening a named pipe would block the thread until somebody reads from the pipe.
    const opened = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    const stats = await opened.stat()
    if (!stats.isFile()) {
      await opened.close()
      throw new Error(`${path} is not a regular file`)
    }
    size = stats.size
    inode = stats.ino
    return opened
  }

  async function close () {
    const closing = file
    file = undefined
    await closing?.close()
  }

  async function rotate () {
    await close()
    if (keep === 0) return rm(path, { force: true })
    for (let n = keep - 1; n >= 0; n--) {
      await rename(n === 0 ? path : `${path}.${n}`, `${path}.${n + 1}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    }
  }

  return {
    holdsThread: true,
    async write (bytes) {
      try {
        if (file !== undefined && (await stat(path).catch(() => undefined))?.ino !== inode) await close()
        file ??= await openFile()
        if (size > 0 && size + bytes.length > maxBytes) {
          await rotate()
          file = await openFile()
        }
        const { bytesWritten } = await file.write(bytes)
        size += bytesWritten
        return bytesWritten
      } catch (error) {
        await close().catch(() => {})
        throw error
      }
    },
    close
  }
}

const NAME = 'logs/local-agent.log'
const MAX_BYTES = 10 * 1024 * 1024
const KEEP = 5

/** Returns the configured log file; undefined for none. A relative path is resolved against `home`, the configuration directory. */
export function logFile (home: string, { file = false, maxBytes = MAX_BYTES, keep = KEEP }: Config['log'] = {}): LogFile | undefined {
  return file === false ? undefined : { path: resolve(home, file === true ? NAME : file), maxBytes, keep }
}
