import t from 'tap'
import { killLives } from './service-kill.ts'

t.test('200 lives of a service, each killed, keep every fact, preference, question and choice that was acknowledged', async (t) => {
  const acknowledged = await killLives(t, 200)

  t.comment(`${acknowledged} writes were acknowledged`)
  t.ok(acknowledged > 0)
})
