import t from 'tap'
import { killErasures } from './erase-kill.ts'

t.test('a service that is killed while it erases finishes at the next start', async (t) => {
  // All moments: test/faults/erase-kill.long.ts.
  const { erased } = await killErasures(t, (moment) => [0, 6, 11].includes(moment))
  t.ok(erased > 0)
})
