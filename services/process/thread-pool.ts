import { stat } from 'node:fs'
import type { Clock } from '../lib/clock.ts'

/**
 * Intervals between two pieces of work, in milliseconds: while other work might be waiting, and otherwise. Each piece wakes the processor
 * twice.
 */
const EVERY_MS = 1_000
const IDLE_EVERY_MS = 60_000
/** For this long after the last sign of work, in milliseconds, other work counts as possibly waiting. */
const AFTER_MS = 30_000

/**
 * Keeps the threads of Node's pool, which read and write files, awake: gives them a little work every second while there are signs of other
 * work, and every minute otherwise. A call of `noteWork` is such a sign. Some C libraries, rarely, lose the signal that wakes such a thread
 * (glibc 2.27 to 2.40: sourceware.org bug 25847; macOS: libuv issue 5280). Work in the queue of the pool then waits until further work
 * arrives, for ever if none does.
 */
export function keepThreadsAwake (clock: Pick<Clock, 'monotonic'>): { noteWork: () => void, stop: () => void } {
  let until = 0
  let everyMs = 0
  let timer: NodeJS.Timeout | undefined
  const noteWork = () => {
    until = clock.monotonic() + AFTER_MS
    if (everyMs !== EVERY_MS) give(EVERY_MS)
  }
  const give = (ms: number) => {
    clearInterval(timer)
    everyMs = ms
    timer = setInterval(() => {
      if (isFileAwaited()) noteWork()
      else if (everyMs === EVERY_MS && clock.monotonic() > until) give(IDLE_EVERY_MS)
      stat('/', () => {})
    }, ms).unref()
  }
  noteWork()
  return { noteWork, stop: () => clearInterval(timer) }
}

let stuck = 0

/**
 * Counts a worker thread that cannot be ended, because its file system does not answer. `ended` resolves when the thread has ended after
 * all.
 */
export function noteStuck (ended: Promise<unknown>): void {
  stuck++
  void ended.finally(() => stuck--)
}

/** True while a thread of the pool waits for a file. process.exit waits for it too: for ever, if the file system does not answer. */
export const isFileAwaited = (): boolean => stuck > 0 || process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))

const POLL_MS = 20

/** Waits up to `ms` milliseconds until no thread waits for files. */
export async function filesSettled (clock: Clock, ms: number): Promise<void> {
  for (let left = ms; left > 0 && isFileAwaited(); left -= POLL_MS) await clock.sleep(POLL_MS)
}
