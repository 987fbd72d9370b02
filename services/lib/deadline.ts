import { Aborted } from './abort.ts'
import type { Clock } from './clock.ts'

/**
 * Runs `work` with a deadline of `ms` milliseconds. On timeout or abort of the caller's signal it rejects with the reason,
 * even when `work` ignores its signal.
 */
export async function withDeadline<T> (
  { clock, ms, signal }: { clock: Clock, ms: number, signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const overdue = new AbortController()
  const done = new AbortController()
  const either = AbortSignal.any([signal, overdue.signal])
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(either.reason)
  either.addEventListener('abort', onAbort)
  clock.timeout(ms, done.signal).then(() => overdue.abort(new Aborted('timeout', `No answer for ${ms / 1000} s: time-out.`)), () => {})
  try {
    either.throwIfAborted()
    return await Promise.race([work(either), aborted.promise])
  } finally {
    either.removeEventListener('abort', onAbort)
    done.abort()
  }
}
