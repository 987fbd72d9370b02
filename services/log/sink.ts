import type { Clock } from '../lib/clock.ts'
import type { Target } from './sink-target.ts'

/** Bytes that are accepted and not yet written, at most. */
const CAPACITY = 1_048_576
/** Bytes given to the target at once: as many as a Linux pipe holds. */
const CHUNK = 65_536
/** After a failed write, milliseconds. */
const RETRY_MS = 500

export interface SinkParts {
  target: Target
  clock: Clock
  /** The line that tells how many were lost. */
  describeLoss(lost: number): string
}

export type Sink = ReturnType<typeof createSink>

/**
 * A bounded queue of lines before a target that may be full, closed, slow or hung. Writing never waits and never throws.
 * When the queue is full, lines are dropped and counted until all that was accepted is written; one line says then how many.
 */
export function createSink ({ target, clock, describeLoss }: SinkParts) {
  const queue: string[] = []
  /** What the target is being given; stays until all of it is written. */
  let chunk: Uint8Array | undefined
  // Bytes since the beginning.
  let accepted = 0
  let written = 0
  let lost = 0
  /** When the write under way began, on the monotonic clock. */
  let since: number | undefined
  let resting: AbortController | undefined
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

  /** Resolves to how many bytes were written; after a failure to 0, and later. */
  async function attempt (bytes: Uint8Array): Promise<number> {
    since = clock.monotonic()
    const count = await target.write(bytes).catch(() => 0)
    since = undefined
    if (count === 0) {
      settle(() => true, false)
      await rest()
      return 0
    }
    written += count
    if (written === accepted && lost > 0) tellLoss()
    settle(({ goal }) => written >= goal, true)
    return count
  }

  async function rest () {
    resting = new AbortController()
    await clock.sleep(RETRY_MS, resting.signal).catch(() => {})
    resting = undefined
  }

  function tellLoss () {
    const line = describeLoss(lost)
    lost = 0
    accept(line, Buffer.byteLength(line))
    // Whoever waits for the lines before waits for this one, too.
    for (const flush of flushes) flush.goal = accepted
  }

  function settle (when: (flush: { goal: number }) => boolean, done: boolean) {
    const settled = flushes.filter(when)
    flushes = flushes.filter((flush) => !settled.includes(flush))
    for (const flush of settled) flush.settle(done)
  }

  return {
    /** Takes one line, its line feed included. */
    write (line: string): void {
      const size = Buffer.byteLength(line)
      const waiting = accepted - written
      if (lost > 0 || (waiting > 0 && waiting + size > CAPACITY)) {
        lost++
        return
      }
      accept(line, size)
      if (chunk === undefined) void pump()
    },

    /** Waits until what was accepted is written; at once when a write fails. Resolves to whether all of it was. */
    async flush (ms: number): Promise<boolean> {
      if (written === accepted) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      flushes.push({ goal: accepted, settle: resolve })
      const timer = new AbortController()
      clock.sleep(ms, timer.signal).then(() => resolve(false), () => {})
      resting?.abort()
      try {
        return await promise
      } finally {
        timer.abort()
      }
    },

    /** Whether a write has held a thread for so many milliseconds, so that process.exit may never return. */
    hangs (ms: number): boolean {
      return target.holdsThread && since !== undefined && clock.monotonic() - since >= ms
    }
  }
}
