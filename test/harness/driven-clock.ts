import type { Clock } from '../../services/lib/clock.ts'

interface Sleeper {
  at: number
  wake: () => void
}

/** A clock that a simulation moves by hours and days at once. While the machine is suspended the wall clock alone goes on. */
export function drivenClock (start: number) {
  let awake = 0
  let suspended = 0
  const sleepers = new Set<Sleeper>()

  const clock: Clock = {
    now: () => start + awake + suspended,
    monotonic: () => awake,
    awake: () => awake,
    timeout: (ms, signal) => clock.sleep(ms, signal),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (ms <= 0) return resolve()
        const onAbort = () => {
          sleepers.delete(sleeper)
          reject(signal!.reason)
        }
        const sleeper: Sleeper = {
          at: awake + ms,
          wake () {
            sleepers.delete(sleeper)
            signal?.removeEventListener('abort', onAbort)
            resolve()
          }
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
  }

  return {
    ...clock,
    /** Time passes at once: everybody who is due meanwhile wakes once, at the end of it. */
    async leap (ms: number) {
      awake += ms
      for (const sleeper of [...sleepers].filter(({ at }) => at <= awake).sort((a, b) => a.at - b.at)) sleeper.wake()
      await new Promise(setImmediate)
    },
    /** The machine is suspended: nobody wakes meanwhile. */
    suspend (ms: number) {
      suspended += ms
    },
    /** The time until the next sleeper is due; Infinity when nobody sleeps. */
    untilNext: (): number => Math.min(...[...sleepers].map(({ at }) => at)) - awake
  }
}
