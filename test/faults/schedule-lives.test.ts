import t from 'tap'
import { killSchedules } from './schedule-lives.ts'
import { overdue, stopAndGoOn } from './schedule-stop.ts'

t.test('a service that was stopped for a while makes up for it once', (t) => stopAndGoOn(t, 2_500))

t.test('many tasks that are overdue when the service starts run two at a time, and leave it responsive', (t) => overdue(t, 40, 3))

t.test('a service that is killed under schedules of a second leaves every planned time with one fate, and no effect twice', async (t) => {
  t.ok(await killSchedules(t, 3) > 0)
})
