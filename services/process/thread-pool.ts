import { stat } from 'node:fs'
import type { Clock } from '../lib/clock.ts'

const EVERY_MS = 1_000

/**
 * Hands the threads that Node reads and writes files with a little work every second, until the returned function is called. C libraries
 * lose, once in a long while, the signal that wakes such a thread (glibc 2.27 to 2.40: sourceware.org bug 25847; macOS: libuv issue 5280).
 * What was handed to the threads then lies in their queue until something else comes, which is never where all else waits for it.
 */
export function keepThreadsAwake (): () => void {
  const timer = setInterval(() => stat('/', () => {}), EVERY_MS).unref()
  return () => clearInterval(timer)
}

let stuck = 0

/** Notes a worker thread that cannot be ended, because it waits for a file system that does not answer. */
export function noteStuck (ended: Promise<unknown>): void {
  stuck++
  void ended.finally(() => stuck--)
}

/** Whether a thread waits for files now. process.exit waits for it, and for one whose file system does not answer it waits for ever. */
export const isFileAwaited = (): boolean => stuck > 0 || process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))

const POLL_MS = 20

/** Waits up to `ms` milliseconds until no thread waits for files. */
export async function filesSettled (clock: Clock, ms: number): Promise<void> {
  for (let left = ms; left > 0 && isFileAwaited(); left -= POLL_MS) await clock.sleep(POLL_MS)
}
