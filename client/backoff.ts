/** The shortest and the longest base of a delay between two attempts, in milliseconds. */
const FIRST_MS = 200
const LONGEST_MS = 10_000

/**
 * Returns the delay before an attempt, in milliseconds; attempts are counted from 0. The delay is random, so that the clients of a service
 * do not all return at once.
 */
export const pauseBefore = (attempt: number) => Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS) * (0.5 + Math.random() / 2)

/** Waits `ms` milliseconds. Throws the signal's reason after an abort. */
export async function pause (ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = () => resolve()
  signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  signal?.removeEventListener('abort', wake)
  signal?.throwIfAborted()
}
