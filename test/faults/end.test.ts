import t from 'tap'
import { endWithEverythingOpen } from './end.ts'
import { stopInTheMiddle } from './stop.ts'

t.test('SIGTERM with everything open ends the service in time, loses no acknowledged write and leaves no process', (t) =>
  endWithEverythingOpen(t, 2))

t.test('a service that was stopped for longer than its limits goes on as if nothing had been', {
  skip: process.platform !== 'linux' ? 'needs /proc' : false
}, (t) => stopInTheMiddle(t, { ms: 12_000, children: false, limitMs: 10_000 }))
