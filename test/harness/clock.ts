import { systemClock, type Clock } from '../../services/lib/clock.ts'

/** How long a test waits for somebody to sleep, in real time: what runs before it may wait for a disk or a child. */
const PATIENCE_MS = 20_000

interface Sleeper {
  at: number
  wake: () => void
}

/** What sleeps on a clock that a test moves; `time` returns its time, milliseconds. */
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

    /** Wakes everybody who is due, the earliest first. */
    async wakeDue () {
      for (const { at, wake } of this.all()) if (at <= time()) wake()
      await new Promise(setImmediate)
    }
  }
}

/** A clock that stands still until the test moves it; who sleeps on it wakes in order. */
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
    /** Moves the time on and wakes everybody who is due, earliest first, giving each a turn. */
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
    /** Moves the time on at once, as over the sleep of a machine: who was due meanwhile wakes late, once. */
    async leap (ms: number) {
      time += ms
      await sleepers.wakeDue()
    },
    /** In how many milliseconds those who sleep are due. */
    waits,
    /** Resolves when somebody sleeps who is due in exactly `ms`. */
    async sleeper (ms: number) {
      const end = performance.now() + PATIENCE_MS
      while (!waits().includes(ms)) {
        if (performance.now() > end) throw new Error(`nobody sleeps for ${ms} ms; due in ${waits().join(', ')}`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  } satisfies Clock & Record<string, unknown>
}

/** The real clock, but sleeps of a second and more last until the test lets them pass. */
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
    /** Lets a sleep of exactly so long end, as soon as there is one. */
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

/** The real clock, but the waits between tries, of one to eight seconds, are over at once. */
export const hastyClock = (): Clock => ({
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms >= 1_000 && ms <= 8_000 ? 1 : ms, signal)
})

/** The clock of the system, with time limits that a slow machine keeps: ten times as long. */
export const patientClock = (): Clock => ({ ...systemClock, timeout: (ms, signal) => systemClock.timeout(ms * 10, signal) })

/** Does that again and again until the promise settles. */
export async function until (settled: Promise<unknown>, again: () => Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const abort = () => over.abort()
  void settled.then(abort, abort)
  while (!over.signal.aborted) await again()
}
