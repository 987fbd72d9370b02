import t from 'tap'
import { killConversations } from './thread-kill.ts'

t.test('a service that is killed at any write of a conversation keeps every message that it has taken', async (t) => {
  t.ok(await killConversations(t, () => true) > 4)
})
