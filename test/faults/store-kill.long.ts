import t from 'tap'
import { killLoop } from './store-kill.ts'

t.test('a store survives 200 kills with every acknowledged write', async (t) => {
  const acknowledged = await killLoop(t, 200)

  t.comment(`${acknowledged} writes were acknowledged`)
  t.ok(acknowledged > 0)
})
