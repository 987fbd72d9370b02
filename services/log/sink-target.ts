import { closeSync, constants, fstatSync, openSync, readlinkSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'

/** Where the bytes of a sink go. One write at a time; none of them blocks the main thread. */
export interface Target {
  /** Resolves to how many bytes were written, maybe fewer than given. After a rejection all of them are written again. */
  write(bytes: Uint8Array): Promise<number>
  /** Whether a write that hangs holds a thread of Node's pool, for which process.exit waits. */
  holdsThread: boolean
}

/** A standard stream of this process, before anybody else has replaced its `write`. */
type StandardStream = NodeJS.WriteStream & { _handle?: { setBlocking?: (on: boolean) => number } }

/** Chooses how to write to a standard descriptor by what it is: a pipe, a socket, a terminal, or a file or device. */
export function openTarget (fd: 1 | 2): Target {
  if (isatty(fd) && !canBeReopened(fd)) return fileTarget(fd)
  const stream: StandardStream = fd === 1 ? process.stdout : process.stderr
  stream.on('error', () => {})
  return stream instanceof Socket ? streamTarget(stream) : fileTarget(fd)
}

/**
 * Pipes, sockets and terminals: libuv writes at once what fits and the rest when the descriptor is writable. Node sets
 * its standard streams to blocking where they are terminals, and pipes on Windows. Node never closes these descriptors.
 */
function streamTarget (stream: StandardStream): Target {
  stream._handle?.setBlocking?.(false)
  const put = stream.write.bind(stream) as (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean
  return {
    holdsThread: false,
    write: (bytes) => new Promise((resolve, reject) => put(bytes, (error) => error ? reject(error) : resolve(bytes.length)))
  }
}

/** Files and devices, which cannot be non-blocking: a thread of the pool writes. */
export function fileTarget (fd: number): Target {
  return {
    holdsThread: true,
    write: (bytes) =>
      new Promise((resolve, reject) => write(fd, bytes, 0, bytes.length, null, (error, count) => error ? reject(error) : resolve(count)))
  }
}

/**
 * Whether libuv can open a terminal anew by its name, as it does to make it non-blocking for this process alone. It cannot when
 * the terminal is another user's or of another mount namespace, or is a pseudoterminal's master; its writes block then.
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
