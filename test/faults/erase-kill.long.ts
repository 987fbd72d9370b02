import t from 'tap'
import { killErasures } from './erase-kill.ts'

t.test('a service that is killed at any step of an erasure has all data or none', async (t) => {
  const { erased, whole } = await killErasures(t, () => true)
  t.ok(erased > 0 && whole > 0)
})
