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

/** A service under a clock that stands still, and what tests of schedules do to it. It begins on Monday, 5 January 2026, at 09:00 UTC. */
export async function scheduling (t: Test, { clock = fakeClock(), ...parts }: Parts = {}) {
  let app = await build(t, { clock, ...parts })
  return { clock, home: app.home, cwd: app.cwd, ...await around(app), close: () => app.close(), restart }

  /** The service ends, time passes, and it is there again on the same directory. */
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
      /** A task that was started with that schedule, in UTC unless it says otherwise. */
      async start (goal: string, schedule: object, fields: object = {}) {
        const task = await tasks.create(goal, { taskType: 'recurring', schedule: { timezone: 'UTC', ...schedule }, ...fields })
        return (await tasks.call('POST', `/${task.id}/start`)).body
      },
      /** The time comes at which something is planned. */
      to: (at: number) => clock.advance(at - clock.now()),
      /** The same over a long time in which nothing is planned. */
      async leapTo (at: number) {
        await clock.leap(at - MINUTE - clock.now())
        await clock.advance(MINUTE)
      },
      /** Resolves once that is the next planned time of the task. */
      async planned (id: string, at: number) {
        while ((await tasks.get(`/${id}`)).nextRunAt !== at);
        return true
      },
      /** What became of planned times, oldest first, once there are so many lines of it. */
      async slots (id: string, lines: number): Promise<Slot[]> {
        for (;;) {
          const { slots } = await schedule(id)
          if (slots.length >= lines) return slots.toReversed()
        }
      }
    }
  }
}

/** What became of a planned time, without ids. */
export const fate = ({ at, fate, reason, into, count }: Slot) => [at, fate, ...[reason, into, count].filter((each) => each !== undefined)]
