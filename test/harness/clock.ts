import { systemClock, type Clock } from '../../services/lib/clock.ts'

/**
 * The real time for which a test waits until code sleeps on its clock, in milliseconds. That code may first wait for a disk or a child
 * process.
 */
const PATIENCE_MS = 20_000

interface Sleeper {
  at: number
  wake: () => void
}

/** The sleepers on a clock that a test moves; `time` returns the clock's time in milliseconds. */
export function createSleepers (time: () => number) {
  const sleepers = new Set<Sleeper>()
  return {
    all: () => [...sleepers].sort((a, b) => a.at - b.at),

    sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (ms <= 0) return resolve()
        const onAbort = () => {
          sleepers.delete(sleeper)
          reject(signal!.reason)
        }
        const sleeper: Sleeper = {
          at: time() + ms,
          wake () {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', onAbort)
            resolve()
          }
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),

    /** Wakes all sleepers that are due, earliest first. */
    async wakeDue () {
      for (const { at, wake } of this.all()) if (at <= time()) wake()
      await new Promise(setImmediate)
    }
  }
}

/** A clock that stands still until the test moves it. Sleepers wake in the order of their times. */
export function fakeClock (start = Date.UTC(2026, 0, 5, 9)) {
  let time = start
  const sleepers = createSleepers(() => time)
  const { sleep } = sleepers
  const waits = () => sleepers.all().map(({ at }) => at - time)

  return {
    now: () => time,
    monotonic: () => time - start,
    awake: () => time - start,
    timeout: sleep,
    sleep,
    /** Moves the time forward, and wakes the sleepers that are due, earliest first. After each one, other code gets a turn. */
    async advance (ms: number) {
      const end = time + ms
      for (;;) {
        const [due] = sleepers.all()
        if (due === undefined || due.at > end) break
        time = Math.max(time, due.at)
        due.wake()
        await new Promise(setImmediate)
      }
      time = end
      await new Promise(setImmediate)
    },
    /** Moves the time forward at once, as when a computer wakes from sleep. Sleepers that were due in between wake late, once. */
    async leap (ms: number) {
      time += ms
      await sleepers.wakeDue()
    },
    /** The remaining times of all sleepers, in milliseconds. */
    waits,
    /** Resolves when there is a sleeper that is due in exactly `ms` milliseconds. */
    async sleeper (ms: number) {
      const end = performance.now() + PATIENCE_MS
      while (!waits().includes(ms)) {
        if (performance.now() > end) throw new Error(`nobody sleeps for ${ms} ms; due in ${waits().join(', ')}`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  } satisfies Clock & Record<string, unknown>
}

/** The real clock, except that sleeps of a second or longer last until the test lets them end. */
export function heldClock () {
  const sleepers = new Set<{ ms: number, wake: () => void }>()
  const clock: Clock = {
    ...systemClock,
    timeout: (ms, signal) => clock.sleep(ms, signal),
    sleep: (ms, signal) =>
      ms < 1000
        ? systemClock.sleep(ms, signal)
        : new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const leave = () => {
            sleepers.delete(sleeper)
            reject(signal!.reason)
          }
          const sleeper = {
            ms,
            wake () {
              sleepers.delete(sleeper)
              signal?.removeEventListener('abort', leave)
              resolve()
            }
          }
          sleepers.add(sleeper)
          signal?.addEventListener('abort', leave, { once: true })
        })
  }
  return {
    clock,
    /** Ends all sleeps of exactly `ms` milliseconds, as soon as there is one. */
    async pass (ms: number) {
      for (;;) {
        const due = [...sleepers].filter((sleeper) => sleeper.ms === ms)
        for (const { wake } of due) wake()
        if (due.length > 0) return
        await systemClock.sleep(5)
      }
    }
  }
}

/** The real clock, except that delays of one to eight seconds, such as those between retries, end at once. */
export const hastyClock = (): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms >= 1_000 && ms <= 8_000 ? 1 : ms, signal)
})

/** The system clock with all timeouts ten times as long, for slow machines. */
export const patientClock = (): Clock => ({ ...systemClock, timeout: (ms, signal) => systemClock.timeout(ms * 10, signal) })

/** Calls `again` repeatedly until the promise settles. */
export async function until (settled: Promise<unknown>, again: () => Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const abort = () => over.abort()
  void settled.then(abort, abort)
  while (!over.signal.aborted) await again()
}
