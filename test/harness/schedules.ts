import type { Test } from 'tap'
import type { App } from '../../app.ts'
import type { Slot } from '../../schemas/schedule.ts'
import { fakeClock } from './clock.ts'
import { build } from './helper.ts'
import { tasksOf } from './tasks.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

type Parts = Parameters<typeof build>[1] & { clock?: ReturnType<typeof fakeClock> }

/**
 * Starts a service with a clock that stands still, and returns functions for tests of schedules. The time begins at Monday, 5 January 2026,
 * 09:00 UTC.
 */
export async function scheduling (t: Test, { clock = fakeClock(), ...parts }: Parts = {}) {
  let app = await build(t, { clock, ...parts })
  return { clock, home: app.home, cwd: app.cwd, ...await around(app), close: () => app.close(), restart }

  /** Stops the service, lets `after` milliseconds pass, and starts it again on the same directory. */
  async function restart (after = 0) {
    await app.close()
    await clock.advance(after)
    const { home, cwd } = app
    app = await build(t, { ...parts, clock, home, cwd })
    return around(app)
  }

  async function around (app: App) {
    const tasks = await tasksOf(t, app)
    const events = await tasks.watch()
    const schedule = (id: string, query = '') => tasks.get(`/${id}/schedule${query}`)
    return {
      app,
      tasks,
      events,
      schedule,
      /** Creates and starts a task with this schedule, in UTC unless the schedule names a zone. */
      async start (goal: string, schedule: object, fields: object = {}) {
        const task = await tasks.create(goal, { taskType: 'recurring', schedule: { timezone: 'UTC', ...schedule }, ...fields })
        return (await tasks.call('POST', `/${task.id}/start`)).body
      },
      /** Moves the clock to a planned time. */
      to: (at: number) => clock.advance(at - clock.now()),
      /** Moves the clock at once over a long time in which nothing is planned. */
      async leapTo (at: number) {
        await clock.leap(at - MINUTE - clock.now())
        await clock.advance(MINUTE)
      },
      /** Resolves when the task's next planned time is `at`. */
      async planned (id: string, at: number) {
        while ((await tasks.get(`/${id}`)).nextRunAt !== at);
        return true
      },
      /** Returns the slots of past planned times, oldest first, when there are `lines` of them. */
      async slots (id: string, lines: number): Promise<Slot[]> {
        for (;;) {
          const { slots } = await schedule(id)
          if (slots.length >= lines) return slots.toReversed()
        }
      }
    }
  }
}

/** Returns the outcome of a planned time, without ids. */
export const fate = ({ at, fate, reason, into, count }: Slot) => [at, fate, ...[reason, into, count].filter((each) => each !== undefined)]
