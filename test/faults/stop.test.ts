import t from 'tap'
import { stopInTheMiddle } from './stop.ts'

t.test('a service that was stopped for longer than its limits goes on as if nothing had been', {
  skip: process.platform !== 'linux' ? 'needs /proc' : false
}, (t) => stopInTheMiddle(t, { ms: 12_000, children: false, limitMs: 10_000 }))
