import { closeSync, constants, fstatSync, openSync, readlinkSync, write } from 'node:fs'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { isatty } from 'node:tty'
import type { Clock } from '../lib/clock.ts'

/** Returns the line that reports lost lines, in the format of the log. */
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
function openTarget (fd: 1 | 2): Target {
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
function fileTarget (fd: number): Target {
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

/** Maximum bytes that are accepted but not yet written. */
const CAPACITY = 1_048_576
/** Bytes given to the target at once: the capacity of a Linux pipe. */
const CHUNK = 65_536
/** Pause after a failed write, in milliseconds. */
const RETRY_MS = 500

interface SinkParts {
  target: Target
  clock: Clock
  /** Returns the line that reports how many lines were lost. */
  describeLoss(lost: number): string
}

export type Sink = ReturnType<typeof createSink>

/**
 * A bounded queue of lines for a target that may be full, closed, slow or hung. Writing never blocks and never throws. When
 * the queue is full, lines are dropped and counted until all accepted lines are written; then one line reports how many were
 * lost.
 */
export function createSink ({ target, clock, describeLoss }: SinkParts) {
  const queue: string[] = []
  /** The bytes that are being written to the target; set until all of them are written. */
  let chunk: Uint8Array | undefined
  // Total bytes since the start.
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

  /** Resolves to the number of bytes written; after a failure to 0, following a pause. */
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
    // Waiting flushes include this line.
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

    /** Waits up to `ms` until all accepted lines are written; returns at once when a write fails. Resolves to whether all were written. */
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

    /** Whether a write has held a thread for `ms` milliseconds, so that process.exit may never return. */
    hangs (ms: number): boolean {
      return target.holdsThread && writeStartedAt !== undefined && clock.monotonic() - writeStartedAt >= ms
    }
  }
}

/** A write to a file that takes longer when the process exits counts as hung; milliseconds. */
const HUNG_MS = 200

/** Creates sinks for stdout and stderr of this process, so that neither can block or end it. Call it before anything is written. */
export function createStandardOutput ({ clock }: { clock: Clock }) {
  const open = (fd: 1 | 2, name: string) =>
    createSink({ target: openTarget(fd), clock, describeLoss: lossLine(clock, name) })
  const stdout = open(1, 'stdout')
  const stderr = open(2, 'stderr')

  return {
    stdout,
    stderr,

    /**
     * Redirects the output of console, Node's warnings and worker threads to the sinks, and prevents a hung file from delaying
     * the exit; `fileHangs` tells whether another file than those of the sinks does.
     */
    takeOver (fileHangs: (ms: number) => boolean = () => false): void {
      redirect(process.stdout, stdout)
      redirect(process.stderr, stderr)
      process.on('exit', (code) => {
        if (stdout.hangs(HUNG_MS) || stderr.hangs(HUNG_MS) || fileHangs(HUNG_MS)) exitNow(code)
      })
    },

    /** Waits up to `ms` until both sinks have written their lines. */
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

/** Ends the process without waiting for its threads, unlike process.exit: it executes another program, which exits with `code`. */
function exitNow (code: number) {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {})
  } catch {}
  process.kill(process.pid, 'SIGKILL')
}
