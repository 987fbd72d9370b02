import t from 'tap'
import { killErasures } from './erase-kill.ts'
import { killImports } from './import-kill.ts'
import { killLives } from './service-kill.ts'
import { killLoop } from './store-kill.ts'

t.test('a store whose process is killed while it writes keeps every acknowledged write', async (t) => {
  const acknowledged = await killLoop(t, 3)

  t.ok(acknowledged > 0)
})

t.test('a service that is killed at any moment keeps every fact, preference, question and choice it acknowledged', async (t) => {
  t.ok(await killLives(t, 2) > 0)
})

t.test('a service that is killed while it imports has the old data or the new, whole', async (t) => {
  // All moments: test/faults/import-kill.long.ts.
  const found = await killImports(t, (moment) => moment === 10 || moment === 29)
  t.ok(found.old > 0 && found.new > 0, JSON.stringify(found))
})

t.test('a service that is killed while it erases finishes at the next start', async (t) => {
  // All moments: test/faults/erase-kill.long.ts.
  const { erased } = await killErasures(t, (moment) => [6, 11].includes(moment))
  t.ok(erased > 0)
})
