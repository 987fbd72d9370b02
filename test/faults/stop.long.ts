import t from 'tap'
import { stopInTheMiddle } from './stop.ts'

t.test('a machine that sleeps for a minute finds everything as it was', (t) => stopInTheMiddle(t, { ms: 65_000, children: true }))

t.test('a service that is stopped for a minute while its children go on takes what they did in that time', (t) =>
  stopInTheMiddle(t, { ms: 65_000, children: false }))
