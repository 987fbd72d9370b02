import t from 'tap'
import { killLives } from './service-kill.ts'

t.test('a service that is killed at any moment keeps every fact, preference, question and choice it acknowledged', async (t) => {
  t.ok(await killLives(t, 4) > 0)
})
