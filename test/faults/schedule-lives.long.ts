import t from 'tap'
import { killSchedules } from './schedule-lives.ts'
import { overdue, stopAndGoOn } from './schedule-stop.ts'

t.test('200 lives of a service, each killed under schedules of a second, leave every planned time with one fate, and no effect ' +
  'twice', async (t) => {
  const times = await killSchedules(t, 200)

  t.comment(`${times} planned times`)
  t.ok(times > 300)
})

t.test('a service that was stopped for a minute makes up for it once', (t) => stopAndGoOn(t, 60_000))

t.test('a thousand tasks that are overdue when the service starts leave it responsive', (t) => overdue(t, 1_000, 50))
