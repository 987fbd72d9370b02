import { createSleepers } from './clock.ts'

/** A clock that a simulation moves by hours and days at once. While the machine is suspended the wall clock alone goes on. */
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
    /** Time passes at once: everybody who is due meanwhile wakes once, at the end of it. */
    async leap (ms: number) {
      awake += ms
      await sleepers.wakeDue()
    },
    /** The machine is suspended: nobody wakes meanwhile. */
    suspend (ms: number) {
      suspended += ms
    },
    /** The time until the next sleeper is due; Infinity when nobody sleeps. */
    untilNext: (): number => (sleepers.all()[0]?.at ?? Infinity) - awake
  }
}
