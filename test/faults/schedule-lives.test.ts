import t from 'tap'
import { killSchedules } from './schedule-lives.ts'

t.test('a service that is killed under schedules of a second leaves every planned time with one fate, and no effect twice', async (t) => {
  t.ok(await killSchedules(t, 3) > 0)
})
