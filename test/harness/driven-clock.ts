import { createSleepers } from './clock.ts'

/** A clock that a simulation moves by hours and days at once. While the machine is suspended, only the wall clock moves. */
export function drivenClock (start: number) {
  let awake = 0
  let suspended = 0
  const sleepers = createSleepers(() => awake)
  const { sleep } = sleepers

  return {
    now: () => start + awake + suspended,
    monotonic: () => awake,
    awake: () => awake,
    timeout: sleep,
    sleep,
    /** Moves the time forward at once. Sleepers that are due in between wake once, at the end. */
    async leap (ms: number) {
      awake += ms
      await sleepers.wakeDue()
    },
    /** Suspends the machine: nobody wakes during that time. */
    suspend (ms: number) {
      suspended += ms
    },
    /** Returns the time until the next sleeper is due; Infinity if nobody sleeps. */
    untilNext: (): number => (sleepers.all()[0]?.at ?? Infinity) - awake
  }
}
