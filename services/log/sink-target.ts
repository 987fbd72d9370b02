import { closeSync, constants, fstatSync, openSync, readlinkSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'

/** The destination of a sink. Allows one write at a time; no write blocks the main thread. */
export interface Target {
  /** Resolves to the number of bytes written, which may be fewer than given. After a rejection all of them are written again. */
  write(bytes: Uint8Array): Promise<number>
  /** Whether a hanging write holds a thread of Node's pool, for which process.exit waits. */
  holdsThread: boolean
}

/** A standard stream of this process, with its original `write`. */
type StandardStream = NodeJS.WriteStream & { _handle?: { setBlocking?: (on: boolean) => number } }

/** Chooses how to write to a standard descriptor by its kind: pipe, socket, terminal, file or device. */
export function openTarget (fd: 1 | 2): Target {
  if (isatty(fd) && !canBeReopened(fd)) return fileTarget(fd)
  const stream: StandardStream = fd === 1 ? process.stdout : process.stderr
  stream.on('error', () => {})
  return stream instanceof Socket ? streamTarget(stream) : fileTarget(fd)
}

/**
 * For pipes, sockets and terminals: libuv writes at once what fits, and the rest when the descriptor is writable. Node makes
 * its standard streams blocking when they are terminals, and pipes on Windows. Node never closes these descriptors.
 */
function streamTarget (stream: StandardStream): Target {
  stream._handle?.setBlocking?.(false)
  const put = stream.write.bind(stream) as (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean
  return {
    holdsThread: false,
    write: (bytes) => new Promise((resolve, reject) => put(bytes, (error) => error ? reject(error) : resolve(bytes.length)))
  }
}

/** For files and devices, which cannot be non-blocking: a pool thread writes. */
export function fileTarget (fd: number): Target {
  return {
    holdsThread: true,
    write: (bytes) =>
      new Promise((resolve, reject) => write(fd, bytes, 0, bytes.length, null, (error, count) => error ? reject(error) : resolve(count)))
  }
}

/**
 * Whether libuv can reopen a terminal by its name, as it does to make it non-blocking for this process only. It cannot when
 * the terminal belongs to another user or mount namespace, or is the master of a pseudoterminal; writes to it then block.
 */
function canBeReopened (fd: number): boolean {
  if (process.platform !== 'linux') return true
  try {
    const name = readlinkSync(`/proc/self/fd/${fd}`)
    if (name.endsWith('/ptmx')) return false
    const opened = openSync(name, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
    try {
      return fstatSync(opened).rdev === fstatSync(fd).rdev
    } finally {
      closeSync(opened)
    }
  } catch {
    return false
  }
}
