import { closeSync, constants, fstatSync, openSync, readlinkSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { isatty } from 'node:tty'
import type { Clock } from '../lib/clock.ts'

/** Creates the function that returns a log line about `lost` lines. `name` is the output that lost them. */
export const lossLine = (clock: Clock, name: string) => (lost: number): string =>
  `${
    JSON.stringify({
      level: 40,
      time: clock.now(),
      pid: process.pid,
      hostname: hostname(),
      lost,
      msg: `${name} accepted no output for a while: ${lost} lines were lost here`
    })
  }\n`

/** The destination of a sink. It takes one write at a time, and no write blocks the main thread. */
export interface Target {
  /** Resolves to the number of bytes written, which can be fewer than given. After a rejection, all given bytes are written again. */
  write(bytes: Uint8Array): Promise<number>
  /** Whether a hanging write blocks a thread of Node's pool. process.exit waits for such threads. */
  holdsThread: boolean
}

/** A standard stream of this process, with access to its libuv handle. */
type StandardStream = NodeJS.WriteStream & { _handle?: { setBlocking?: (on: boolean) => number } }

/** Creates the target for a standard descriptor, by its kind: pipe, socket, terminal, file or device. */
function openTarget (fd: 1 | 2): Target {
  if (isatty(fd) && !canBeReopened(fd)) return fileTarget(fd)
  const stream: StandardStream = fd === 1 ? process.stdout : process.stderr
  stream.on('error', () => {})
  return stream instanceof Socket ? streamTarget(stream) : fileTarget(fd)
}

/**
 * Creates a target for pipes, sockets and terminals. libuv writes at once what fits, and the rest when the
 * descriptor is writable. Node makes its standard streams blocking if they are terminals, and pipes on Windows;
 * this function makes them non-blocking. Node never closes these descriptors.
 */
function streamTarget (stream: StandardStream): Target {
  stream._handle?.setBlocking?.(false)
  const put = stream.write.bind(stream) as (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean
  return {
    holdsThread: false,
    write: (bytes) => new Promise((resolve, reject) => put(bytes, (error) => error ? reject(error) : resolve(bytes.length)))
  }
}

/** Creates a target for files and devices, which cannot be non-blocking: a thread of Node's pool writes. */
function fileTarget (fd: number): Target {
  return {
    holdsThread: true,
    write: (bytes) =>
      new Promise((resolve, reject) => write(fd, bytes, 0, bytes.length, null, (error, count) => error ? reject(error) : resolve(count)))
  }
}

/**
 * Whether libuv can reopen a terminal by its name, which makes the terminal non-blocking for this process only. libuv cannot if
 * the terminal belongs to another user or mount namespace, or is the master of a pseudoterminal. Writes to such a terminal block.
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

/** Maximum bytes that are accepted but not yet written. */
const CAPACITY = 1_048_576
/** About how many characters are passed to the target at once: the capacity of a Linux pipe. */
const CHUNK = 65_536
/** The pause after a failed write; milliseconds. */
const RETRY_MS = 500

interface SinkParts {
  target: Target
  clock: Clock
  /** Returns the line that reports how many lines were lost. */
  describeLoss(lost: number): string
}

export type Sink = ReturnType<typeof createSink>

/**
 * Creates a bounded queue of lines for a target that can be full, closed, slow or hung. Writing never blocks and never throws. When
 * the queue is full, lines are dropped and counted until all accepted lines are written. Then one line reports how many were lost.
 */
export function createSink ({ target, clock, describeLoss }: SinkParts) {
  const queue: string[] = []
  /** The bytes that are being written to the target; undefined when all accepted lines are written. */
  let chunk: Uint8Array | undefined
  // Totals in bytes since the start; `lost` counts lines.
  let accepted = 0
  let written = 0
  let lost = 0
  /** When the current write began, on the monotonic clock. */
  let writeStartedAt: number | undefined
  let retryPause: AbortController | undefined
  let flushes: { goal: number, settle: (done: boolean) => void }[] = []

  function accept (line: string, size: number) {
    accepted += size
    queue.push(line)
  }

  function next (): Uint8Array | undefined {
    let length = 0
    const end = queue.findIndex((line) => (length += line.length) >= CHUNK) + 1
    const lines = queue.splice(0, end || queue.length)
    return lines.length > 0 ? Buffer.from(lines.join('')) : undefined
  }

  async function pump () {
    for (chunk = next(); chunk; chunk = next()) {
      while (chunk.length > 0) chunk = chunk.subarray(await attempt(chunk))
    }
  }

  /** Tries one write. Resolves to the number of bytes written; after a failure pauses and resolves to 0. */
  async function attempt (bytes: Uint8Array): Promise<number> {
    writeStartedAt = clock.monotonic()
    const count = await target.write(bytes).catch(() => 0)
    writeStartedAt = undefined
    if (count === 0) {
      settle(() => true, false)
      await pauseBeforeRetry()
      return 0
    }
    written += count
    if (written === accepted && lost > 0) reportLoss()
    settle(({ goal }) => written >= goal, true)
    return count
  }

  async function pauseBeforeRetry () {
    retryPause = new AbortController()
    await clock.sleep(RETRY_MS, retryPause.signal).catch(() => {})
    retryPause = undefined
  }

  function reportLoss () {
    const line = describeLoss(lost)
    lost = 0
    accept(line, Buffer.byteLength(line))
    // Flushes that are waiting also wait for this line.
    for (const flush of flushes) flush.goal = accepted
  }

  function settle (when: (flush: { goal: number }) => boolean, done: boolean) {
    const settled = flushes.filter(when)
    flushes = flushes.filter((flush) => !settled.includes(flush))
    for (const flush of settled) flush.settle(done)
  }

  return {
    /** Queues one line, including its line feed. */
    write (line: string): void {
      const size = Buffer.byteLength(line)
      const queuedBytes = accepted - written
      if (lost > 0 || (queuedBytes > 0 && queuedBytes + size > CAPACITY)) {
        lost++
        return
      }
      accept(line, size)
      if (chunk === undefined) void pump()
    },

    /** Waits up to `ms` milliseconds until all accepted lines are written, or until a write fails. Resolves to whether all were written. */
    async flush (ms: number): Promise<boolean> {
      if (written === accepted) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      flushes.push({ goal: accepted, settle: resolve })
      const timer = new AbortController()
      clock.sleep(ms, timer.signal).then(() => resolve(false), () => {})
      retryPause?.abort()
      try {
        return await promise
      } finally {
        timer.abort()
      }
    },

    /** Whether a write has blocked a thread for `ms` milliseconds, which might make process.exit hang as well. */
    hangs (ms: number): boolean {
      return target.holdsThread && writeStartedAt !== undefined && clock.monotonic() - writeStartedAt >= ms
    }
  }
}

/** When the process exits, a write that has taken longer than this many milliseconds counts as hung. */
const HUNG_MS = 200

/** Creates sinks for stdout and stderr, so that neither output can block or end this process. Call it before anything is written. */
export function createStandardOutput ({ clock }: { clock: Clock }) {
  const open = (fd: 1 | 2, name: string) =>
    createSink({ target: openTarget(fd), clock, describeLoss: lossLine(clock, name) })
  const stdout = open(1, 'stdout')
  const stderr = open(2, 'stderr')

  return {
    stdout,
    stderr,

    /**
     * Redirects the output of console, Node's warnings and worker threads to the sinks, and prevents a hung write
     * from delaying the exit. `fileHangs` returns whether a file outside of the sinks has hung.
     */
    takeOver (fileHangs: (ms: number) => boolean = () => false): void {
      redirect(process.stdout, stdout)
      redirect(process.stderr, stderr)
      process.on('exit', (code) => {
        if (stdout.hangs(HUNG_MS) || stderr.hangs(HUNG_MS) || fileHangs(HUNG_MS)) exitNow(code)
      })
    },

    /** Waits up to `ms` milliseconds until both sinks have written their lines. */
    async flush (ms: number): Promise<void> {
      await Promise.all([stdout.flush(ms), stderr.flush(ms)])
    }
  }
}

function redirect (stream: NodeJS.WriteStream, sink: Sink) {
  const decoder = new StringDecoder()
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    sink.write(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)))
    const done = rest.find((argument) => typeof argument === 'function')
    if (done) process.nextTick(done as () => void)
    return true
  }
}

/** Ends the process without waiting for its threads, unlike process.exit: replaces it by a program that exits with `code`. */
function exitNow (code: number) {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {})
  } catch {}
  process.kill(process.pid, 'SIGKILL')
}
