import { Aborted } from './abort.ts'
import type { Clock } from './clock.ts'

// The time limits of the service. They measure the time that the process ran (`clock.awake`), so a suspended machine uses
// none of it. Waits that a stopped process must not prolong use `clock.sleep`.

/** How often a limit is checked while its time is stopped, in milliseconds. */
const RESTING_MS = 10_000

interface TimeLimit {
  clock: Clock
  /** Milliseconds. */
  ms: number
}

/** A sentence, or a function that builds it from the milliseconds that have passed. */
type Sentence = string | ((ms: number) => string)

export interface Deadline {
  /** Starts the time anew, for limits on silence. `ms` replaces `renewedMs` as the limit. */
  renew(ms?: number): void
  /** Stops the time until the promise settles, then starts it anew. */
  rest<T>(work: Promise<T>): Promise<T>
  /** Stops the time until the promise settles, then continues with the time that was left. */
  pause<T>(work: Promise<T>): Promise<T>
  /** The time spent in pauses, milliseconds. */
  paused(): number
  stop(): void
}

/**
 * Calls `abort` with the reason `timeout` when `ms` have passed since the start, or `renewedMs` (by default `ms`) since the last renewal.
 * Does nothing once it was stopped.
 */
export function startDeadline (
  { clock, ms: firstMs, renewedMs = firstMs, message }: TimeLimit & { renewedMs?: number, message?: Sentence },
  abort: (reason: Aborted) => void
): Deadline {
  let ms = firstMs
  const stopped = new AbortController()
  /** When the time last started. */
  let startedAt = clock.awake()
  let renewedAt: number | undefined = startedAt
  let resting = 0
  let restingSince = 0
  let paused = 0
  const startAt = (at: number) => {
    startedAt = renewedAt = at
  }
  const renew = (nextMs = renewedMs) => {
    ms = nextMs
    startAt(clock.awake())
  }
  /** Milliseconds until the limit is checked again; undefined when it is reached. */
  const timeLeft = () => resting > 0 ? Math.min(ms, RESTING_MS) : renewedAt === undefined ? undefined : renewedAt + ms - clock.awake()
  const watch = async () => {
    for (let left: number | undefined = ms; left !== undefined && left > 0; left = timeLeft()) {
      // A renewal can shorten the limit to `renewedMs`.
      if (left > renewedMs) left = renewedMs
      else renewedAt = undefined
      await clock.timeout(left, stopped.signal)
    }
  }
  watch().then(() => abort(new Aborted('timeout', typeof message === 'function' ? message(ms) : message)), () => {})

  async function rest<T> (work: Promise<T>, resume: () => void): Promise<T> {
    if (resting++ === 0) restingSince = clock.awake()
    try {
      return await work
    } finally {
      resting--
      resume()
    }
  }

  return {
    renew,
    rest: (work) => rest(work, () => renew()),
    pause: (work) =>
      rest(work, () => {
        if (resting > 0) return
        const pause = clock.awake() - restingSince
        paused += pause
        startAt(startedAt + pause)
      }),
    paused: () => paused,
    // Without a reason, Node would make an exception with a stack trace.
    stop: () => stopped.abort('stopped')
  }
}

interface DeadlineOptions extends TimeLimit {
  /** The limit after a renewal, milliseconds; by default `ms`. */
  renewedMs?: number
  signal?: AbortSignal
  /** The sentence of the timeout. */
  message?: Sentence
  /** How long `work` may clean up after the abort of its signal before it is abandoned, milliseconds. */
  settleMs?: number
}

/**
 * Runs `work` with a signal that aborts with the caller's signal or after `ms`; see `Deadline` for `renew` and `rest`. After the abort
 * it rejects with the signal's reason, even when `work` ignores its signal.
 */
export async function withDeadline<T> (
  { clock, ms, renewedMs, signal, message = (over) => `No answer for ${over / 1000} s: time-out.`, settleMs = 0 }: DeadlineOptions,
  work: (signal: AbortSignal, renew: Deadline['renew'], rest: Deadline['rest']) => Promise<T>
): Promise<T> {
  signal?.throwIfAborted()
  const overdue = new AbortController()
  const either = signal === undefined ? overdue.signal : AbortSignal.any([signal, overdue.signal])
  const abandoned = Promise.withResolvers<never>()
  let cleaning: Deadline | undefined
  const abandon = () => abandoned.reject(either.reason)
  const onAbort = () => {
    if (settleMs === 0) abandon()
    else cleaning = startDeadline({ clock, ms: settleMs }, abandon)
  }
  either.addEventListener('abort', onAbort)
  const deadline = startDeadline({ clock, ms, renewedMs, message }, (reason) => overdue.abort(reason))
  try {
    const result = await Promise.race([work(either, deadline.renew, deadline.rest), abandoned.promise])
    either.throwIfAborted()
    return result
  } catch (error) {
    throw either.aborted ? either.reason : error
  } finally {
    either.removeEventListener('abort', onAbort)
    deadline.stop()
    cleaning?.stop()
  }
}

/** Waits for the promise, at most `ms` and until the signal aborts. Resolves to whether it settled; rejects when it does. */
export async function settlesWithin (
  { clock, ms, signal }: TimeLimit & { signal?: AbortSignal },
  promise: Promise<unknown>
): Promise<boolean> {
  const settled = new AbortController()
  const either = signal === undefined ? settled.signal : AbortSignal.any([signal, settled.signal])
  try {
    return await Promise.race([promise.then(() => true), clock.timeout(ms, either).then(() => false, () => false)])
  } finally {
    settled.abort('settled')
  }
}
