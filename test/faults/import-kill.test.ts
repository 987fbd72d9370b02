import t from 'tap'
import { killImports } from './import-kill.ts'

t.test('a service that is killed while it imports has the old data or the new, whole', async (t) => {
  // All moments: test/faults/import-kill.long.ts.
  const found = await killImports(t, (moment) => moment === 10 || moment === 29)
  t.ok(found.old > 0 && found.new > 0, JSON.stringify(found))
})
