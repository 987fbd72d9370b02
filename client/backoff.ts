/** The first and the longest pause between two attempts, ms. */
const FIRST_MS = 200
const LONGEST_MS = 10_000

/** The pause before an attempt, counted from 0, ms. It is random, so that clients of one service do not come back at once. */
export const pauseBefore = (attempt: number) => Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS) * (0.5 + Math.random() / 2)

/** Waits. Throws the signal's reason after an abort. */
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
