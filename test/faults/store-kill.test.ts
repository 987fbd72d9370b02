import t from 'tap'
import { killLoop } from './store-kill.ts'

t.test('a store whose process is killed while it writes keeps every acknowledged write', async (t) => {
  const acknowledged = await killLoop(t, 6)

  t.ok(acknowledged > 0)
})
