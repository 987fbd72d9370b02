import t from 'tap'
import { killImports } from './import-kill.ts'

t.test('a service that is killed at any step of an import has the old data or the new, whole', async (t) => {
  const found = await killImports(t, () => true)
  t.ok(found.old > 0 && found.new > 0, JSON.stringify(found))
})
