import t from 'tap'
import { survivesKill } from './acp-kill.ts'

// The prompt, then the announced call, then the request for a permission and its answer.
for (const killAt of [1, 3, 5]) {
  t.test(`the service is killed at message ${killAt} of a turn of an editor`, async (t) => {
    await survivesKill(t, killAt)
  })
}
