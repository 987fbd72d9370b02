import t from 'tap'
import { survivesKill } from './acp-kill.ts'

t.test('the service is killed at each message of a turn of an editor', async (t) => {
  const messages = await survivesKill(t, Infinity)
  t.ok(messages > 6)
  for (let killAt = 1; killAt <= messages; killAt++) {
    await t.test(`message ${killAt} of ${messages}`, async (t) => {
      await survivesKill(t, killAt)
    })
  }
})
