import { stat } from 'node:fs'

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
