import t from 'tap'
import { killConversations } from './thread-kill.ts'

t.test('a service that is killed within a conversation keeps every message that it has taken', async (t) => {
  // All moments: test/faults/thread-kill.long.ts.
  t.ok(await killConversations(t, (moment) => moment % 8 === 2) > 1)
})
